"""Take pictures of an answer, the demo, two methods side by side and the site: desk and phone, light and dark.

`make pictures` does it, and so does `make docs`. They stand in docs/screenshots, with 64 colours each. Chromium is
needed, and Pillow (it comes with matplotlib).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "screenshots"
PAGES = {
    "answer": ROOT / "build/films/page.html",
    "page": ROOT / "build/demo/page.html",
    "two": ROOT / "build/demo-two/page.html",
    "site": ROOT / "build/site/README.html",
}
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
SCHEMES = {"dark": 0, "light": 1}
"""Chromium's numbers for the colour scheme that a person prefers."""


def main() -> int:
    """Take all pictures."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    missing = [str(page) for page in PAGES.values() if not page.is_file()]
    if browser is None or missing:
        print("no Chromium is installed" if browser is None else f"missing: {', '.join(missing)}; run: make pictures")
        return 1
    OUT.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        for device, (width, height) in SIZES.items():
            for scheme, number in SCHEMES.items():
                with tempfile.TemporaryDirectory() as folder:
                    taken = Path(folder) / "taken.png"
                    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
                    flags += [f"--blink-settings=preferredColorScheme={number}", f"--window-size={width},{height}"]
                    subprocess.run(
                        [browser, *flags, f"--screenshot={taken}", page.as_uri()], check=True, capture_output=True
                    )
                    with Image.open(taken) as picture:
                        small = picture.convert("RGB").quantize(64)
                    small.save(OUT / f"{name}-{device}-{scheme}.png", optimize=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

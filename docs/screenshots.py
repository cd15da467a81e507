"""Take pictures of an answer, the demo, two methods, the page to ask and the site: desk and phone, light and dark.

`make pictures` does it, and so does `make docs`. They stand in docs/screenshots, with 64 colours each. Chromium is
needed, and Pillow (it comes with matplotlib).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

from PIL import Image

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "screenshots"
PAGES = {
    "answer": ROOT / "build/films/page.html",
    "page": ROOT / "build/demo/page.html",
    "two": ROOT / "build/demo-two/page.html",
    "site": ROOT / "build/site/README.html",
}
RECIPE = ["recipes/quickstart.yaml", "--set", "reader={use: paths}"]
PORT = 8124
ASKED = {"q": "What is the capital of Georgia?", "link": "23,30,country/GE"}
"""A question whose link was corrected: of two Georgias, the linker takes the state."""
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
    with served() as service:
        pages = {name: page.as_uri() for name, page in PAGES.items()}
        for name, address in {**pages, "ask": f"{service}/?{urlencode(ASKED)}"}.items():
            for device, (width, height) in SIZES.items():
                for scheme, number in SCHEMES.items():
                    # The page to ask waits for its answer.
                    flags = ["--virtual-time-budget=5000"] if name == "ask" else []
                    flags += [f"--blink-settings=preferredColorScheme={number}", f"--window-size={width},{height}"]
                    take(browser, address, flags, OUT / f"{name}-{device}-{scheme}.png")
    return 0


@contextmanager
def served() -> Iterator[str]:
    """Serve the demo with a reader; wait until it answers."""
    address = f"http://127.0.0.1:{PORT}"
    command = [sys.executable, "-m", "srtk_framework", "serve", *RECIPE, "--port", str(PORT)]
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        while True:
            try:
                urlopen(f"{address}/health").close()
                break
            except OSError:
                if process.poll() is not None:
                    raise
                time.sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.wait()


def take(browser: str, address: str, flags: list[str], to: Path) -> None:
    """Take one picture, with 64 colours."""
    with tempfile.TemporaryDirectory() as folder:
        taken = Path(folder) / "taken.png"
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *flags]
        subprocess.run([browser, *flags, f"--screenshot={taken}", address], check=True, capture_output=True)
        with Image.open(taken) as picture:
            small = picture.convert("RGB").quantize(64)
        small.save(to, optimize=True)


if __name__ == "__main__":
    sys.exit(main())

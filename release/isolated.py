"""Runs the tests of each plugin in an environment with its wheel and what that declares, outside of the checkout.

    make wheels && python release/isolated.py [NAME ...]

What a test imports and its plugin does not declare fails here, while in the checkout everything is installed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_LEFT_OUT = ("PYTHONPATH", "VIRTUAL_ENV")
_SHARED = (
    "conftest.py",
    "pyproject.toml",
    "tests/chromium.py",
    "tests/service.py",
    "tests/kit/__init__.py",
    "tests/kit/placed.py",
    "tests/kit/toys.py",
    "tests/kit/web_replies.py",
    "tests/kit/kills.py",
    "tests/kit/kill_points.py",
    "benchmarks/__init__.py",
    "benchmarks/loopback/openai_forms.py",
    "benchmarks/loopback/openai_server.py",
    "benchmarks/loopback/servers.py",
    "benchmarks/loopback/serving.py",
)
"""Settings of all tests, and what some need to drive a browser, to end programs midway, and as misbehaving servers."""


def passes(name: str, wheels: Path) -> bool:
    """Return whether a plugin passes its tests alone; what is said goes to the screen.

    Raises:
        subprocess.CalledProcessError: If the plugin cannot be installed.
    """
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        python = str(place / "env" / ("Scripts" if os.name == "nt" else "bin") / "python")
        subprocess.run([sys.executable, "-m", "venv", str(place / "env")], check=True)
        install = [python, "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt")]
        # Warnings are errors, and tests have a time limit, as in the checkout.
        subprocess.run([*install, "--find-links", str(wheels), f"{name}[testing]", "pytest-timeout"], check=True)
        shutil.copytree(ROOT / "plugins" / name / "tests", place / "plugins" / name / "tests")
        for file in _SHARED:
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, place / file)
        shutil.copytree(ROOT / "recipes", place / "recipes")
        environment = {key: value for key, value in os.environ.items() if key not in _LEFT_OUT}
        command = [python, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", f"plugins/{name}/tests"]
        return subprocess.run(command, cwd=place, env=environment, check=False).returncode == 0


def main() -> int:
    """Run the command; return 1 where a plugin fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="plugins without srtk-plugin-; all where none is named")
    parser.add_argument("--wheels", type=Path, default=ROOT / "dist")
    args = parser.parse_args()
    every = sorted(folder.parent.name for folder in ROOT.glob("plugins/*/pyproject.toml"))
    names = [f"srtk-plugin-{name}" for name in args.names] or every
    failed = [name for name in names if not passes(name, args.wheels)]
    print(f"{len(names) - len(failed)} of {len(names)} plugins pass alone", *failed, sep="\n  ")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())

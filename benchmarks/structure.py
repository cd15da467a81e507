"""Count the parts of the architecture: rooms, modules, imports between them, cycles, lines of the kernel.

    python benchmarks/structure.py [ROOT] [--cycles]

ROOT is the root of a checkout, this one by default, so that two versions can be compared. With --cycles only the
cycles are printed, and the exit code is 1 where there is one (`make lint` runs this). Imports count
anywhere: at the top of a module, inside a function, under TYPE_CHECKING.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import networkx as nx

CORE = "srtk_framework"
KIT = "testing"
KERNEL = ("values", "roles", "host", "recipe", "run")


def modules(folder: Path, name: str) -> dict[str, Path]:
    """Find the modules below a folder: dotted name to file."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        parts = parts[:-1] if parts[-1:] == ("__init__",) else parts
        if all(part.isidentifier() for part in parts):
            found[".".join([name, *parts] if name else parts)] = path
    return found


def imports(files: dict[str, Path]) -> Iterator[tuple[str, str]]:
    """Yield the imports of modules by modules, each once; a package's ``__init__`` counts as the package."""
    for name, path in files.items():
        targets = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            if isinstance(node, ast.Import):
                targets.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                # `from package import module` imports the module.
                targets.update(
                    inner if (inner := f"{node.module}.{alias.name}") in files else node.module for alias in node.names
                )
        yield from ((name, target) for target in sorted(targets) if target in files and target != name)


def cycles(files: dict[str, Path]) -> list[list[str]]:
    """Find the groups of modules that import each other."""
    graph = nx.DiGraph(imports(files))
    return sorted(sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1)


def room(module: str) -> str:
    """Return the part of the core, directly below its root, that contains a module."""
    return module.split(".")[1] if "." in module else module


def trees(root: Path) -> dict[str, dict[str, Path]]:
    """Find the import trees of a checkout: the core, each plugin, the benchmarks."""
    found = {CORE: modules(root / CORE, CORE)}
    for folder in sorted(root.glob("plugins/*/srtk_plugin_*")):
        found[folder.name] = modules(folder, folder.name)
    found["benchmarks"] = modules(root / "benchmarks", "benchmarks")
    return found


def lines(files: dict[str, Path], parts: Collection[str]) -> int:
    """Count the lines of the modules in some parts of the core."""
    return sum(
        len(path.read_text(encoding="utf-8").splitlines()) for name, path in files.items() if room(name) in parts
    )


def main() -> int:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).resolve().parents[1])
    parser.add_argument("--cycles", action="store_true", help="only look for cycles")
    args = parser.parse_args()
    found = trees(args.root)
    loops = {name: groups for name, files in found.items() if (groups := cycles(files))}
    if not args.cycles:
        core = found[CORE]
        pairs = list(imports(core))
        rooms = sorted({room(name) for name in core} - {CORE})
        arrows = {(room(a), room(b)) for a, b in pairs if room(a) != room(b)}
        print(f"core: {len(core)} modules in {len(rooms)} parts; {len(pairs)} imports, {len(arrows)} between parts")
        without = lines(core, {*rooms, CORE} - {KIT})
        print(f"core: {without:,} lines without the kit, {lines(core, KERNEL):,} in the kernel")
        others = {name: files for name, files in found.items() if name not in (CORE, "benchmarks")}
        print(f"plugins: {sum(map(len, others.values()))} modules in {len(others)} plugins")
        shipped = lines(core, {*rooms, CORE}) + sum(
            lines(files, {room(name) for name in files}) for files in others.values()
        )
        print(f"shipped: {shipped:,} lines of code in the core, the kit and the plugins")
        print(f"cycles: {sum(map(len, loops.values()))}")
    for name, groups in loops.items():
        for group in groups:
            print(f"cycle in {name}: {', '.join(group)}")
    return 1 if args.cycles and loops else 0


if __name__ == "__main__":
    sys.exit(main())

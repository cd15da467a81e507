"""Import a driver that a recipe names by its class: ``package.module:Class`` or ``path/to/file.py:Class``."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Iterable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from srtk_framework.values import PluginError, close_matches


def is_class_path(name: str) -> bool:
    """Return whether the value of ``use:`` names a class rather than an installed driver."""
    return ":" in name


def import_class(target: str, folder: Path) -> Any:
    """Import the class that a recipe names.

    A relative file, or a module that is not installed, is searched for in the recipe's folder, then in the current
    folder. Both folders are appended to ``sys.path``, so that the module can import modules beside it, also later.

    Args:
        target: ``package.module:Class`` or ``path/to/file.py:Class``.
        folder: Folder of the recipe.

    Raises:
        PluginError: If there is no such file, module or class, or the module cannot be imported.
    """
    place, _, name = target.rpartition(":")
    folders = list(dict.fromkeys((folder.resolve(), Path.cwd())))
    for path in map(str, folders):
        if path not in sys.path:
            # At the end, so that a module beside the recipe hides no installed module.
            sys.path.append(path)
    module = _file(place, target, folders) if place.endswith(".py") else _module(place, target, folders)
    try:
        return getattr(module, name)
    except AttributeError as error:
        known = [key for key, value in vars(module).items() if inspect.isclass(value)]
        raise PluginError(f"{target}: {place} has no class {name!r}.{close_matches(name, known)}") from error


def hashes_of(targets: Iterable[str], folder: Path) -> dict[str, str]:
    """Map each target that names a class to the SHA-256 of the file that defines the class."""
    hashes = {}
    for target in sorted(set(filter(is_class_path, targets))):
        # A class beside a recipe has no version that the manifest could name.
        file = inspect.getsourcefile(import_class(target, folder))
        hashes[target] = hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""
    return hashes


def _file(place: str, target: str, folders: list[Path]) -> ModuleType:
    found = next((path for path in (base / place for base in folders) if path.is_file()), None)
    if found is None:
        looked = " or ".join(dict.fromkeys(str((base / place).parent) for base in folders))
        raise PluginError(f"{target}: there is no file {Path(place).name} in {looked}; correct the path")
    found = found.resolve()
    # Two recipes may each have a `hop.py`, and a class must be the same object each time it is loaded.
    name = f"{found.stem}_{hashlib.sha256(str(found).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, found)
    if spec is None or spec.loader is None:
        raise PluginError(f"{target}: {found} cannot be imported as Python; name a .py file")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a program that runs when it is imported may end so
        del sys.modules[name]
        raise PluginError(f"{target}: {found} cannot be imported: {type(error).__name__}: {error}") from error
    return module


def _module(place: str, target: str, folders: list[Path]) -> ModuleType:
    try:
        return importlib.import_module(place)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{place}.".startswith(f"{error.name}."):
            looked = " or ".join(map(str, folders))
            text = f"there is no module {error.name!r}, neither installed nor in {looked}; correct it, or install it"
            raise PluginError(f"{target}: {text}") from error
        raise PluginError(f"{target}: {place} cannot be imported: {type(error).__name__}: {error}") from error

"""Files that come with the framework beside its code: in its package, or at the top of a checkout."""

from __future__ import annotations

import re
from pathlib import Path

import attrs

from srtk_framework.text import read_yaml
from srtk_framework.values import InputError, SrtkError, close_matches

FOLDER = "recipes"
SCHEMA = "recipe.schema.json"
"""JSON Schema of recipes, which the first line of each recipe names; it lies beside them."""
_NAMED = re.compile(rf"(?<![\w./-]){FOLDER}/")
_FILE = re.compile(rf"(?<![\w./-]){FOLDER}/(?P<file>files/[\w./-]+)")


@attrs.frozen
class ShippedRecipe:
    """A recipe that comes with the framework.

    Attributes:
        name: Its name, without suffix.
        description: Its key ``description``.
        text: The file as it is.
        files: Small files that it names, relative to the folder of recipes.
    """

    name: str
    description: str
    text: str
    files: tuple[str, ...]


def shipped_folder(name: str) -> Path:
    """Find a folder that comes with the framework: ``recipes`` or ``demo``.

    Raises:
        SrtkError: If the installation lacks it.
    """
    package = Path(__file__).parents[1]
    for folder in (package / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise SrtkError(f"{package} was installed without its folder {name}; install srtk-framework again, from a wheel")


def recipes_folder() -> Path:
    """Find the folder of the recipes."""
    return shipped_folder(FOLDER)


def shipped_recipes() -> list[ShippedRecipe]:
    """Read all recipes, by name."""
    return sorted((_read(file) for file in recipes_folder().glob("*.yaml")), key=lambda recipe: recipe.name)


def shipped_recipe(name: str) -> ShippedRecipe:
    """Read one recipe.

    Raises:
        SrtkError: If there is none of that name.
    """
    names = [file.stem for file in sorted(recipes_folder().glob("*.yaml"))]
    wanted = name.removesuffix(".yaml")
    if wanted not in names:
        raise SrtkError(f"there is no recipe {name!r}.{close_matches(wanted, names)} All: srtk recipes list")
    return _read(recipes_folder() / f"{wanted}.yaml")


def copy_recipe(recipe: ShippedRecipe, folder: Path, replace: bool = False) -> list[Path]:
    """Copy a recipe and the files that it names; its paths and commands are then written for the folder.

    A file that is there already with the same content is left as it is, and a schema of recipes whatever its content.

    Returns:
        The copies, the recipe first, the schema last.

    Raises:
        InputError: If another file is in the way and is not to be replaced, or the folder cannot be written.
    """
    place = folder.as_posix()
    prefix = "" if place == "." else f"{place}/"
    contents = {folder / f"{recipe.name}.yaml": _NAMED.sub(lambda _: prefix, recipe.text).encode()}
    contents |= {folder / name: (recipes_folder() / name).read_bytes() for name in recipe.files}
    if replace or not (folder / SCHEMA).exists():  # one that is there may describe more plugins
        contents[folder / SCHEMA] = (recipes_folder() / SCHEMA).read_bytes()
    for path, content in contents.items():
        if not replace and path.exists() and (not path.is_file() or path.read_bytes() != content):
            raise InputError(f"{path} is there already and differs; give another folder, or --force to replace it")
    for path, content in contents.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise InputError(f"{path}: cannot be written ({error.strerror}); give another folder") from error
    return list(contents)


def _read(file: Path) -> ShippedRecipe:
    text = file.read_text(encoding="utf-8")
    data = read_yaml(text, str(file), "recipe")
    files = tuple(dict.fromkeys(found["file"] for found in _FILE.finditer(text)))
    return ShippedRecipe(file.stem, str(data.get("description", "")), text, files)

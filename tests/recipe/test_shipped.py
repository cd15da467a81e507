"""The recipes that come with the framework, and their copies."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from srtk_framework.recipe import load
from srtk_framework.recipe.shipped import SCHEMA, copy_recipe, recipes_folder, shipped_recipe, shipped_recipes
from srtk_framework.values import InputError, SrtkError

ROOT = Path(__file__).parents[2]
NAMES = sorted(file.stem for file in (ROOT / "recipes").glob("*.yaml"))


def test_every_recipe_of_the_repository_is_listed_with_a_description() -> None:
    recipes = shipped_recipes()
    assert [recipe.name for recipe in recipes] == NAMES
    assert all(recipe.description for recipe in recipes)


def test_every_file_beside_the_recipes_belongs_to_one() -> None:
    there = {file.relative_to(recipes_folder()).as_posix() for file in recipes_folder().rglob("files/*")}
    assert there
    assert there == {file for recipe in shipped_recipes() for file in recipe.files}


@pytest.mark.parametrize("name", NAMES)
def test_no_recipe_names_a_place_outside_of_where_it_runs(name: str) -> None:
    text = shipped_recipe(name).text
    assert not re.findall(r"\.\./|plugins/|tests/|benchmarks/|(?<![\w:/.])/(?:home|root|work|tmp)\b", text)


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_reads_the_files_that_came_with_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    copies = copy_recipe(shipped_recipe(name), Path("mine/here"))
    assert copies[0] == Path(f"mine/here/{name}.yaml")
    text = copies[0].read_text(encoding="utf-8")
    assert "recipes/" not in text
    assert all(path.as_posix() in text for path in copies[1:-1])
    assert copies[-1] == Path("mine/here") / SCHEMA
    assert copies[-1].is_file()
    recipe = load(copies[0], [])
    assert not recipe.problems


def test_a_copy_into_recipes_is_the_recipe_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    copies = copy_recipe(shipped_recipe("wikidata"), Path("recipes"))
    beside = [Path("recipes/files/wikidata-questions.jsonl"), Path("recipes") / SCHEMA]
    assert copies == [Path("recipes/wikidata.yaml"), *beside]
    assert copies[0].read_text(encoding="utf-8") == shipped_recipe("wikidata").text
    assert copy_recipe(shipped_recipe("wikidata"), Path("recipes")) == copies[:-1]


def test_a_copy_into_the_working_folder_has_no_folder_in_its_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    copy_recipe(shipped_recipe("dbpedia"), Path())
    assert "questions: files/dbpedia-questions.jsonl" in Path("dbpedia.yaml").read_text(encoding="utf-8")
    assert Path("files/dbpedia-questions.jsonl").is_file()


def test_a_changed_file_is_replaced_only_when_asked(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "dbpedia-questions.jsonl").write_text("mine\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"dbpedia-questions.jsonl is there already and differs; .*--force"):
        copy_recipe(shipped_recipe("dbpedia"), tmp_path)
    assert not (tmp_path / "dbpedia.yaml").exists()
    copy_recipe(shipped_recipe("dbpedia"), tmp_path, replace=True)
    assert (tmp_path / "files" / "dbpedia-questions.jsonl").read_text(encoding="utf-8") != "mine\n"


def test_a_schema_that_is_there_stays_since_it_may_describe_more_plugins(tmp_path: Path) -> None:
    (tmp_path / SCHEMA).write_text("{}", encoding="utf-8")
    copy_recipe(shipped_recipe("metaqa"), tmp_path)
    assert (tmp_path / SCHEMA).read_text(encoding="utf-8") == "{}"
    copy_recipe(shipped_recipe("metaqa"), tmp_path, replace=True)
    assert (tmp_path / SCHEMA).read_text(encoding="utf-8") != "{}"


def test_an_unknown_name_gets_the_nearest_one() -> None:
    with pytest.raises(SrtkError, match=r"no recipe 'metaq'\. Did you mean .*'metaqa'"):
        shipped_recipe("metaq")

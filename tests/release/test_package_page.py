"""READMEs as a package page shows them: no link and no picture that leads nowhere."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "release"))
from package_page import package_page  # noqa: E402

READMES = sorted([ROOT / "README.md", *ROOT.glob("plugins/*/README.md"), *ROOT.glob("adapters/*/README.md")])
ADDRESS = "https://forge.example/group/project"


def targets(text: str) -> list[str]:
    """All links and pictures of a page, as a Markdown parser finds them."""
    inline = [child for token in MarkdownIt("commonmark").parse(text) for child in token.children or ()]
    found = [
        token.attrs.get("href") or token.attrs.get("src") for token in inline if token.type in ("link_open", "image")
    ]
    return [str(target) for target in found]


def words(text: str) -> str:
    inline = [child for token in MarkdownIt("commonmark").parse(text) for child in token.children or ()]
    return "".join(token.content for token in inline if token.type in ("text", "code_inline"))


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.parent.name)
def test_without_an_address_no_relative_link_is_left_and_no_word_is_lost(readme: Path) -> None:
    text = readme.read_text(encoding="utf-8")
    page = package_page(text, readme.parent.relative_to(ROOT).as_posix().removeprefix("."), "")
    assert not [target for target in targets(page) if not target.startswith(("http", "#"))]
    assert words(page) == words(text)


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.parent.name)
def test_with_an_address_each_link_leads_to_a_file_that_there_is(readme: Path) -> None:
    place = readme.parent.relative_to(ROOT).as_posix().removeprefix(".")
    page = package_page(readme.read_text(encoding="utf-8"), place, ADDRESS)
    for target in targets(page):
        assert target.startswith(("http", "#"))
        if target.startswith(ADDRESS):
            path = target.removeprefix(ADDRESS).partition("#")[0].removeprefix("/blob/main/").removeprefix("/raw/main/")
            assert (ROOT / path).exists(), target


def test_links_are_resolved_against_the_folder_of_the_readme() -> None:
    page = package_page("See [`sparql`](../other), [text](../../docs/a.md#b), [here](#top).\n", "plugins/one", ADDRESS)
    other, text = f"{ADDRESS}/blob/main/plugins/other", f"{ADDRESS}/blob/main/docs/a.md#b"
    assert page == f"See [`sparql`]({other}), [text]({text}), [here](#top).\n"


def test_a_picture_is_read_raw_or_left_out() -> None:
    text = "Before\n\n![A page](docs/page.png)\n\nAfter\n"
    assert f"![A page]({ADDRESS}/raw/main/docs/page.png)" in package_page(text, "", ADDRESS)
    assert package_page(text, "", "") == "Before\n\nAfter\n"


def test_a_picture_that_is_a_link_goes_with_it() -> None:
    assert package_page("[![A page](docs/page.png)](docs/a.md) and text\n", "", "") == " and text\n"


def test_code_is_left_as_it_is() -> None:
    text = "```md\n[a](b.md)\n```\n"
    assert package_page(text, "", "") == package_page(text, "", ADDRESS) == text


def test_a_link_out_of_the_repository_is_refused() -> None:
    with pytest.raises(ValueError, match="leads out of the repository"):
        package_page("[data](../beside)\n", "", ADDRESS)

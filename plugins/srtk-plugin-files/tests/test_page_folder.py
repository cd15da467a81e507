"""The data of a page in files beside it: what each file holds, and what becomes of the folder."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from srtk_plugin_files import page_folder
from srtk_plugin_files.page_folder import DataFolder, PageTexts

from srtk_framework.values import DriverError


@contextmanager
def folder_of(page: Path | str, *data: str) -> Iterator[DataFolder]:
    """Make the folder of a page with some texts."""
    with closing(texts_of(*data)) as texts:
        yield DataFolder(str(page), texts)


def texts_of(*data: str) -> PageTexts:
    texts = PageTexts()
    for number, text in enumerate(data):
        texts.add(text, f"entry {number}")
    return texts


def published(tmp_path: Path, *data: str) -> tuple[dict[str, object], list[str]]:
    """Return what a page is told of its folder, and the texts of its files."""
    with folder_of(tmp_path / "page.html", *data) as folder:
        told = folder.write()
        folder.publish()
    files = sorted((tmp_path / "page-data").iterdir(), key=lambda file: int(file.stem.removeprefix("part-")))
    assert [file.name for file in files] == [f"part-{number}.js" for number in range(len(files))]
    return told, [file.read_text("utf-8") for file in files]


def test_a_file_ends_with_the_first_text_that_goes_beyond_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_folder, "_PART", 4)
    told, files = published(tmp_path, "aa", "bb", "c", "ddddd", "ee", "ff", "g", "h")
    assert (told["name"], told["starts"]) == ("page-data", [0, 3, 4, 7])
    rows = [["aa", "bb", "c"], ["ddddd"], ["ee", "ff", "g"], ["h"]]
    assert files == [
        f"srtkPart('{told['stamp']}', {number}, [\n" + "".join(f"'{text}',\n" for text in row) + "]);\n"
        for number, row in enumerate(rows)
    ]


def test_a_file_has_a_mebibyte_and_as_much_waits_in_memory(tmp_path: Path) -> None:
    with closing(PageTexts()) as texts:
        tracemalloc.start()
        try:
            for size, held in ((900_000, True), (1 << 18, False)):
                texts.add("x" * size, "x" * size)
                assert (tracemalloc.get_traced_memory()[0] > 900_000) == held
        finally:
            tracemalloc.stop()
    told, _ = published(tmp_path, *["x" * (1 << 18)] * 9)
    assert told["starts"] == [0, 5]


def test_texts_that_find_no_room_on_the_disk_are_refused_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_folder, "_HELD", 3)
    said = "^the data of a page cannot be kept: No such file or directory; free some space$"
    with closing(PageTexts(str(tmp_path / "none"))) as texts, pytest.raises(DriverError, match=said):
        texts.add("a long text", "")


def test_files_that_come_between_writing_and_publishing_are_kept(tmp_path: Path) -> None:
    with folder_of(tmp_path / "page.html", "a") as folder:
        folder.write()
        (tmp_path / "page-data").mkdir()
        (tmp_path / "page-data" / "mine").touch()
        with pytest.raises(DriverError, match="page-data: cannot be written: Directory not empty; name another path"):
            folder.publish()
        for _ in range(2):
            folder.drop()
    assert [file.name for file in tmp_path.rglob("*")] == ["page-data", "mine"]


def test_quotes_and_backslashes_of_a_text_are_escaped(tmp_path: Path) -> None:
    _, (file,) = published(tmp_path, r"""{"a": "it's \n"}""")
    assert file.splitlines()[1] == r"""'{"a": "it\'s \\n"}',"""


def test_a_page_without_questions_has_one_file_without_texts(tmp_path: Path) -> None:
    told, files = published(tmp_path)
    assert told["starts"] == [0]
    assert files == [f"srtkPart('{told['stamp']}', 0, [\n]);\n"]


def test_the_stamp_is_that_of_all_texts(tmp_path: Path) -> None:
    stamps = [published(tmp_path, *data)[0]["stamp"] for data in (["a", "b"], ["a", "b"], ["a", "c"], ["x", "b"])]
    assert stamps[0] == stamps[1]
    assert len({*stamps}) == 3
    assert all(isinstance(stamp, str) and len(stamp) == 16 for stamp in stamps)


def test_texts_come_again_as_they_were_added_with_their_size_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_folder, "_HELD", 3)
    texts = texts_of("é字", "", "lone \ud800")
    assert texts.size == 5 + 0 + 6
    for _ in range(2):
        assert list(texts.data()) == ["é字", "", "lone ?"]
        assert list(texts.index()) == ["entry 0", "entry 1", "entry 2"]
    texts.close()
    with pytest.raises(ValueError, match="closed file"):
        texts.data()
    with pytest.raises(ValueError, match="closed file"):
        texts.index()


def test_what_is_written_is_seen_only_once_it_is_published(tmp_path: Path) -> None:
    published(tmp_path, "old")
    with folder_of(tmp_path / "page.html", "new") as folder:
        folder.write()
        assert "'old'" in (tmp_path / "page-data" / "part-0.js").read_text()
        folder.drop()
        assert [file.name for file in tmp_path.iterdir()] == ["page-data"]
        (tmp_path / ".page-data.part").mkdir()
        (tmp_path / ".page-data.part" / "part-7.js").touch()  # of a process that was killed
        folder.write()
        folder.publish()
    assert [file.name for file in tmp_path.iterdir()] == ["page-data"]
    assert [file.name for file in (tmp_path / "page-data").iterdir()] == ["part-0.js"]
    assert "'new'" in (tmp_path / "page-data" / "part-0.js").read_text()


@pytest.mark.parametrize("made", [lambda path: path.mkdir(), lambda path: path.write_text("mine"), None])
def test_a_folder_that_is_empty_or_has_other_texts_is_kept(tmp_path: Path, made: Callable[[Path], None] | None) -> None:
    mine = tmp_path / "page-data"
    mine.mkdir()
    if made is not None:
        made(mine / "part-0.js")
    before = [(file.name, file.is_dir()) for file in mine.iterdir()]
    with (
        folder_of(tmp_path / "page.html", "new") as folder,
        pytest.raises(DriverError, match="page-data holds other things than the data of a page; move it away"),
    ):
        folder.write()
    with folder_of(tmp_path / "page.html") as folder:
        folder.publish()
    assert [(file.name, file.is_dir()) for file in mine.iterdir()] == before


@pytest.mark.parametrize("name", ["part-1.js.old", "my-part-1.js", "part-.js", "part-1xjs"])
def test_a_folder_with_any_file_of_another_name_is_kept(tmp_path: Path, name: str) -> None:
    published(tmp_path, "old")
    (tmp_path / "page-data" / name).touch()
    with pytest.raises(DriverError, match="page-data holds other things than the data of a page"):
        published(tmp_path, "new")
    with folder_of(tmp_path / "page.html") as folder:
        folder.publish()
    assert "'old'" in (tmp_path / "page-data" / "part-0.js").read_text()


def test_a_file_in_the_place_of_the_folder_is_kept(tmp_path: Path) -> None:
    (tmp_path / "page-data").write_text("mine")
    with (
        folder_of(tmp_path / "page.html", "a") as folder,
        pytest.raises(DriverError, match="page-data holds other things than the data of a page"),
    ):
        folder.write()
    assert (tmp_path / "page-data").read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_named_as_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = r"^out/page-data: cannot be written: No such file or directory; name an"
    with folder_of("out/page.html", "a") as folder, pytest.raises(DriverError, match=said):
        folder.write()

"""Conformance of exporters: whole files or none, in order, with any characters in labels."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import attrs
import pytest

from srtk_framework.roles import Exporter
from srtk_framework.testing.base import Answers, Conformance
from srtk_framework.testing.sample import SAMPLE
from srtk_framework.values import (
    Answer,
    DriverError,
    Link,
    Question,
    RankedPath,
    Retrieval,
    SrtkError,
    Step,
    Subgraph,
    Triple,
)

OLD = "what stood here before\n"


class ExporterConformance(Conformance):
    """Checks an Exporter; its ``driver`` is opened and writes to ``path``. The kit closes it, once."""

    role = Exporter
    is_closed = False

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        """Return the file to write, in a folder of its own; override it where a suffix matters."""
        folder = tmp_path / "export"
        folder.mkdir()
        return folder / "out.txt"

    @pytest.fixture
    def retrievals(self) -> list[Retrieval]:
        """Return retrievals, each with a word of its own in id, text and entity."""
        return [retrieval_of(word) for word in ("zebra", "aardvark", "mongoose")]

    @pytest.fixture(autouse=True)
    def closed_afterwards(self, driver: Any) -> Iterator[None]:
        """Close the driver after a check that did not."""
        yield
        if not self.is_closed:
            driver.close()

    def finish(self, driver: Any) -> None:
        """Close the driver of the fixture."""
        self.is_closed = True
        driver.close()

    def validate(self, path: Path) -> None:
        """Raise where the file is not valid; override it to parse the format."""
        path.read_bytes().decode("utf-8")

    @pytest.fixture
    def answers(self, driver: Any, path: Path, retrievals: list[Retrieval]) -> Answers:
        """Open, write the retrievals, close, and read the file."""

        def written(exporter: Any) -> str:
            if not self.is_closed:
                self.finish(driver)
            exporter.open()
            exporter.write(list(retrievals))
            exporter.close()
            return path.read_bytes().decode("latin-1")

        return written

    def use(self, driver: Any) -> None:
        """Write a retrieval."""
        driver.write([retrieval_of("zebra")])

    @contextmanager
    def copy_of(self, driver: Any, **changes: Any) -> Iterator[Any]:
        """Leave the target to the driver itself: the copy is not opened."""
        yield attrs.evolve(driver, **changes)

    def again(self, driver: Any, retrievals: list[Retrieval], abort: bool = False) -> None:
        """Write to the same target once more by a second driver."""
        second = attrs.evolve(driver)
        try:
            second.open()
            second.write(retrievals)
            if abort:
                second.abort()
        finally:
            second.close()

    def test_a_closed_driver_can_be_opened_again(self, driver: Any, answers: Answers) -> None:
        """An exporter that is opened a second time writes the same file."""
        with self.copy_of(driver) as copy:
            assert answers(copy) == answers(copy), "after close and open, the exporter writes another file"

    def test_the_target_appears_only_after_close(self, driver: Any, path: Path, retrievals: list[Retrieval]) -> None:
        """The target does not exist before ``close``."""
        driver.write(retrievals)
        assert not path.exists(), "the target is there before close"
        self.finish(driver)
        assert path.exists(), "the target is not there after close"

    def test_what_stood_there_stays_until_close(self, driver: Any, path: Path, retrievals: list[Retrieval]) -> None:
        """An older file stays until ``close`` replaces it."""
        self.finish(driver)
        path.write_text(OLD, encoding="utf-8")
        second = attrs.evolve(driver)
        second.open()
        second.write(retrievals)
        kept = path.exists() and path.read_text(encoding="utf-8") == OLD
        second.close()
        assert kept, "the old file is gone before close"
        assert path.read_bytes() != OLD.encode(), "close did not replace the old file"

    def test_abort_leaves_the_old_file(self, driver: Any, path: Path, retrievals: list[Retrieval]) -> None:
        """After ``abort``, the older file is unchanged, or there is none."""
        driver.write(retrievals)
        assert driver.abort() is True, "abort must return True"
        self.finish(driver)
        assert not path.exists(), "after abort, a target is there that was not there before; close must write none then"
        path.write_text(OLD, encoding="utf-8")
        self.again(driver, retrievals, abort=True)
        assert path.read_text(encoding="utf-8") == OLD, "after abort, the old file is changed"

    def test_nothing_else_is_left_in_the_folder(self, driver: Any, path: Path, retrievals: list[Retrieval]) -> None:
        """No temporary file remains after ``close`` or ``abort``."""
        driver.write(retrievals)
        self.finish(driver)
        left = sorted(found.name for found in path.parent.iterdir())
        assert left == [path.name], f"after close, the folder holds {left}"
        self.again(driver, retrievals, abort=True)
        left = sorted(found.name for found in path.parent.iterdir())
        assert left == [path.name], f"after abort, the folder holds {left}"

    def test_an_empty_run_writes_a_valid_file(self, driver: Any, path: Path) -> None:
        """A run without retrievals writes a valid file."""
        self.finish(driver)
        assert path.exists(), "a run without retrievals leaves no file"
        self.validate(path)

    def test_write_returns_how_many_were_written(self, driver: Any, retrievals: list[Retrieval]) -> None:
        """``write`` returns the number of retrievals of that call."""
        counts = [driver.write(retrievals), driver.write([]), driver.write([retrieval_of("weasel")])]
        self.finish(driver)
        assert counts == [len(retrievals), 0, 1], f"write returned {counts}"

    def test_the_order_of_retrievals_is_kept(self, driver: Any, path: Path, retrievals: list[Retrieval]) -> None:
        """Retrievals keep their order over several calls."""
        driver.write(retrievals[:1])
        driver.write(retrievals[1:])
        self.finish(driver)
        text = path.read_bytes().decode("utf-8", errors="replace")
        places = [text.find(retrieval.question.id.partition("-")[2]) for retrieval in retrievals]
        assert -1 not in places, "a retrieval cannot be found in the file"
        assert places == sorted(places), "retrievals are not in the order in which they were written"

    def test_several_writes_equal_one(self, driver: Any, path: Path, retrievals: list[Retrieval]) -> None:
        """The file does not depend on the size of batches."""
        for retrieval in retrievals:
            driver.write([retrieval])
        self.finish(driver)
        apart = path.read_bytes()
        self.again(driver, retrievals)
        assert path.read_bytes() == apart, "several writes give another file than one"

    def test_the_same_retrievals_give_the_same_bytes(
        self, driver: Any, path: Path, retrievals: list[Retrieval]
    ) -> None:
        """Two exporters write the same bytes for the same retrievals."""
        driver.write(list(retrievals))
        self.finish(driver)
        first = path.read_bytes()
        self.again(driver, retrievals)
        assert path.read_bytes() == first, "a second run writes other bytes"

    def test_the_list_that_was_given_is_untouched(self, driver: Any, retrievals: list[Retrieval]) -> None:
        """``write`` does not change its argument."""
        given = list(retrievals)
        driver.write(given)
        self.finish(driver)
        assert given == retrievals, "write changed the list that it was given"

    def test_strange_labels_are_written(self, driver: Any, path: Path) -> None:
        """Quotes, tags, newlines and right-to-left text give a valid file."""
        driver.write([strange_retrieval()])
        self.finish(driver)
        self.validate(path)

    def test_a_failed_question_is_written_too(self, driver: Any, path: Path) -> None:
        """A failed question and an empty subgraph give a valid file."""
        failed = Retrieval(Question("q-failed", "What failed?"), error="the endpoint did not answer")
        empty = Retrieval(Question("q-empty", "What is not there?"), Subgraph(trace={"reason": "no link"}))
        written = driver.write([failed, empty])
        self.finish(driver)
        self.validate(path)
        assert written == 2, f"write returned {written} for a failed and an empty retrieval"

    def test_no_question_is_dropped(self, driver: Any, path: Path, retrievals: list[Retrieval]) -> None:
        """Questions that failed or have an empty subgraph can be found in the file, by their id or text."""
        failed, empty = unanswered()
        driver.write([retrievals[0], failed, empty])
        self.finish(driver)
        text = path.read_bytes().decode("utf-8", errors="replace")
        lost = [one.question.id for one in (failed, empty) if one.question.id.partition("-")[2] not in text]
        assert not lost, f"{' and '.join(lost)} cannot be found in the file; write a row for a question without triples"

    def test_a_missing_folder_is_made_or_named(self, driver: Any, path: Path, retrievals: list[Retrieval]) -> None:
        """A missing folder is created, or an error of the framework names it."""
        self.finish(driver)
        fields = [f.alias for f in attrs.fields(type(driver)) if f.init and str(getattr(driver, f.name)) == str(path)]
        assert fields, "no setting of the driver holds the fixture `path`"
        target = path.parent / "new" / "folder" / path.name
        second = attrs.evolve(driver, **{fields[0]: type(getattr(driver, fields[0]))(target)})
        fault = ""
        try:
            with contextlib.closing(second):
                second.open()
                second.write(retrievals)
        except SrtkError as error:
            assert str(error), "the error has no message"  # noqa: PT017 - an error is allowed, not asked for
            return
        except OSError as error:
            fault = f"{type(error).__name__} for a file in a missing folder"
        assert not fault, f"{fault}; make the folder in open, or raise a DriverError that names it"
        assert target.exists(), "neither a file in a new folder nor an error"


def retrieval_of(word: str) -> Retrieval:
    """Make a retrieval that can be found again by a word."""
    link = Link(f"Entity-{word}", 1.0, 8, 8 + len(word), word)
    triple = Triple(link.entity, "lives_in", "Riga")
    return Retrieval(
        question=Question(f"q-{word}", f"Where a {word} lives", (link,), answers=("Riga",)),
        subgraph=Subgraph(
            triples=(triple, SAMPLE.triples[0]),
            scores=(0.5, 0.25),
            paths=(RankedPath(link.entity, (Step("lives_in"),), 0.5),),
            path_of=(0, -1),
            provenance=("oracle:1", "oracle:1"),
            qualifiers=((("since", '"2005"^^xsd:gYear'),), ()),
            trace={"hops": 1},
        ),
        labels={link.entity: word, "lives_in": "lives in"},
    )


def unanswered() -> tuple[Retrieval, Retrieval]:
    """Make a failed and an empty retrieval, each with a word of its own in id and text."""
    return (
        Retrieval(Question("q-walrus", "Where a walrus lives"), error="the endpoint did not answer"),
        Retrieval(Question("q-pangolin", "Where a pangolin lives"), Subgraph(trace={"reason": "no link"})),
    )


def strange_retrieval() -> Retrieval:
    """Make a retrieval out of everything that breaks a page or a line."""
    text = (
        "A \"quote\", <b>tag</b> & \\ 'one'\n\tline\r\n\u202eright to left\u202c \u2028 </script><!-- ]]> 日本 العربية"
    )
    triples = (Triple(text, text, text), *(t for t in SAMPLE.triples if t.subject in SAMPLE.strange()))
    return Retrieval(
        question=Question(text, text, (Link(text, 0.5, 0, 1, text),), answers=(text,), extra={"note": text}),
        subgraph=Subgraph(
            triples=triples,
            scores=(0.1,) * len(triples),
            paths=(RankedPath(text, (Step(text), Step(text, True)), 0.1),),
            path_of=(0,) * len(triples),
            provenance=(text,) * len(triples),
            qualifiers=(((text, text),),) * len(triples),
            trace={"reason": text},
        ),
        answer=Answer(text, (text,), (0,) if triples else ()),
        labels={**dict.fromkeys((text, *SAMPLE.strange()), text)},
    )


HEAD = ("question", "subject", "relation", "object", "score", "error")


@attrs.define(eq=False)
class ToyExporter(Exporter):
    """Write a CSV row for each triple; a question without triples has one row.

    Attributes:
        path: The CSV file to write.
    """

    path: str
    _file: TextIO | None = attrs.field(init=False, default=None, repr=False)
    _failed: bool = attrs.field(init=False, default=False, repr=False)

    def open(self) -> None:
        """Start a file beside the target."""
        part = self._part()
        self._failed = False
        try:
            part.parent.mkdir(parents=True, exist_ok=True)
            self._file = part.open("w", encoding="utf-8", errors="replace", newline="")
        except OSError as error:
            raise DriverError(f"{part} cannot be written: {error.strerror}; name another path") from error
        csv.writer(self._file).writerow(HEAD)

    def write(self, retrievals: Sequence[Retrieval]) -> int:
        """Add the rows of each retrieval."""
        if self._file is None:
            raise DriverError(f"{self.path} is not open; call open before write")
        csv.writer(self._file).writerows(row for retrieval in retrievals for row in _rows(retrieval))
        return len(retrievals)

    def abort(self) -> bool:
        """Have ``close`` delete the part."""
        self._failed = True
        return True

    def close(self) -> None:
        """Move the part to the target."""
        if self._file is None:
            return
        self._file.close()
        self._file = None
        if self._failed:
            self._part().unlink()
        else:
            self._part().replace(self.path)

    def _part(self) -> Path:
        return Path(f"{self.path}.part")


def _rows(retrieval: Retrieval) -> list[tuple[object, ...]]:
    id_, found = retrieval.question.id, retrieval.subgraph
    rows: list[tuple[object, ...]] = [
        (id_, *triple, score, "") for triple, score in zip(found.triples, found.scores, strict=True)
    ]
    return rows or [(id_, "", "", "", "", retrieval.error or "")]


class ToyExporterCase(ExporterConformance):
    """The toy exporter keeps the contract of an exporter."""

    name = "toy"

    @pytest.fixture
    def driver(self, path: Path) -> ToyExporter:
        """Open an exporter; the kit closes it."""
        exporter = ToyExporter(path=str(path))
        exporter.open()
        return exporter

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> ToyExporter:
        """Return an exporter whose folder is a file."""
        tmp_path.joinpath("file").write_text("", encoding="utf-8")
        return ToyExporter(path=str(tmp_path / "file" / "below.csv"))

    def validate(self, path: Path) -> None:
        """Check the number of fields in each row."""
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert tuple(rows[0]) == HEAD
        assert all(len(row) == len(HEAD) for row in rows)


SUMMARY = "An exporter of CSV files"

RECIPE = """\
exporters: [{use: toy, path: out/triples.csv}]
"""

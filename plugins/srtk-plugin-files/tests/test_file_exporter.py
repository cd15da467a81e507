"""The exporters of files: conformance, records, text within its tokens, and files that are replaced whole."""

from __future__ import annotations

import gzip
import json
import os
import resource
from pathlib import Path

import attrs
import pytest
from srtk_plugin_files.html import Page
from srtk_plugin_files.jsonl import JsonLines
from srtk_plugin_files.text import Text

from srtk_framework.records import read_retrievals
from srtk_framework.testing.exporter import ExporterConformance
from srtk_framework.text import count_tokens
from srtk_framework.values import (
    Alternative,
    Answer,
    DriverError,
    Link,
    Literal,
    Question,
    RankedPath,
    Retrieval,
    SettingsError,
    Step,
    Subgraph,
    Triple,
)


def opened(driver):
    driver.open()
    yield driver
    driver.abort()
    driver.close()


class TestJsonLines(ExporterConformance):
    name = "jsonl"

    @pytest.fixture
    def driver(self, path):
        yield from opened(JsonLines(path=str(path)))

    @pytest.fixture
    def faulty(self, tmp_path):
        return JsonLines(path=str(tmp_path))

    def validate(self, path):
        for line in path.read_bytes().splitlines():
            json.loads(line)
        list(read_retrievals(path))


class TestText(ExporterConformance):
    name = "text"

    @pytest.fixture
    def driver(self, path):
        yield from opened(Text(path=str(path)))

    @pytest.fixture
    def faulty(self, path):
        return Text(path=str(path), templates=str(path) + ".none")


class TestPage(ExporterConformance):
    name = "html"

    @pytest.fixture
    def driver(self, path):
        yield from opened(Page(path=str(path)))

    @pytest.fixture
    def faulty(self, path):
        return Page(path=str(path), against=str(path.with_name("absent.jsonl")))


LATVIA = Retrieval(
    question=Question(
        "q1", "What is the\ncapital of Latvia?", (Link("Q211", 1.0, 23, 29, "Latvia"),), answers=("Q1773",)
    ),
    subgraph=Subgraph(
        triples=(Triple("Q211", "P36", "Q1773"), Triple("Q1773", "P1082", Literal('"605273"^^xsd:integer'))),
        scores=(0.9, 0.4),
        paths=(
            RankedPath("Q211", (Step("P36"),), 0.9),
            RankedPath("Q211", (Step("P36"), Step("P1082")), 0.4),
        ),
        path_of=(0, 1),
        provenance=("local:1", "local:1"),
        qualifiers=((("P580", Literal('"1918"^^xsd:gYear')),), ()),
    ),
    labels={"Q211": "Latvia", "P36": "capital", "Q1773": "Riga", "P1082": "population", "P580": "start time"},
)


def export(driver, *retrievals):
    driver.open()
    driver.write(retrievals)
    driver.close()
    return Path(driver.path)


def test_the_lines_are_records_that_come_back(tmp_path):
    path = export(JsonLines(path=str(tmp_path / "new" / "out.jsonl")), LATVIA)
    assert list(read_retrievals(path)) == [LATVIA]
    assert json.loads(path.read_text(encoding="utf-8"))["triplets"][0] == ["Q211", "P36", "Q1773"]


def test_a_name_in_gz_is_compressed_with_the_same_bytes_each_time(tmp_path):
    path = export(JsonLines(path=str(tmp_path / "out.jsonl.gz")), LATVIA)
    first = path.read_bytes()
    assert b"Riga" in gzip.decompress(first)
    assert export(JsonLines(path=str(tmp_path / "out.jsonl.gz")), LATVIA).read_bytes() == first


def test_text_shows_heading_paths_and_facts(tmp_path):
    path = export(Text(path=str(tmp_path / "out.txt")), LATVIA)
    assert path.read_text(encoding="utf-8") == (
        "# q1\nQuestion: What is the capital of Latvia?\nEntities: Latvia\nFacts (2 of 2):\n"
        "Latvia → capital\nLatvia | capital | Riga (start time: 1918)\n"
        "Latvia → capital → population\nRiga | population | 605273\n\n"
    )


def test_text_has_a_readers_answer_with_its_proof_above_the_facts(tmp_path):
    others = (Alternative("605\n273"), Alternative("Jurmala"))
    answer = Answer("Riga", ("Q1773",), (0,), certainty="unsure", complete=False, alternatives=others)
    read = attrs.evolve(LATVIA, answer=answer)
    lines = export(Text(path=str(tmp_path / "out.txt")), read).read_text(encoding="utf-8").splitlines()
    assert lines[3:7] == [
        "Answer: Perhaps Riga",
        "Note: not all was read, so there may be more",
        "Proof: Latvia | capital | Riga (start time: 1918)",
        "Other answers: 605 273; Jurmala",
    ]
    assert lines[7] == "Facts (2 of 2):"
    without = export(Text(path=str(tmp_path / "plain.txt"), answer=False), read).read_text(encoding="utf-8")
    assert without == export(Text(path=str(tmp_path / "out.txt")), LATVIA).read_text(encoding="utf-8")


def test_text_says_why_a_reader_refused(tmp_path):
    refused = attrs.evolve(LATVIA, answer=Answer(enough=False, missing="Latvia has\nno mayor"))
    text = export(Text(path=str(tmp_path / "out.txt")), refused).read_text(encoding="utf-8")
    assert "\nNo answer: Latvia has no mayor\nFacts (2 of 2):\n" in text
    lacking = attrs.evolve(refused, subgraph=attrs.evolve(refused.subgraph, trace={"absent_links": ["Q9"]}))
    for one, above in ((lacking, "No answer: Latvia has no mayor"), (attrs.evolve(lacking, answer=None), "Entities: ")):
        text = export(Text(path=str(tmp_path / "out.txt")), one).read_text(encoding="utf-8")
        note = text.splitlines().index("Note: the graph lacks Q9, which the question was linked to as well")
        assert text.splitlines()[note - 1].startswith(above)
    failed = Retrieval(Question("q2", "Who?"), answer=Answer(enough=False, missing="no name"), error="no link")
    text = export(Text(path=str(tmp_path / "out.txt")), failed).read_text(encoding="utf-8")
    assert text == "# q2\nQuestion: Who?\nNo answer: no name\nError: no link\n\n"


def test_a_long_proof_is_counted_in_the_heading_of_a_text(tmp_path):
    triples = tuple(Triple("a", "r", f"b{i}") for i in range(9))
    many = Retrieval(Question("1", "w"), Subgraph(triples), Answer("b", ("b0",), tuple(range(9))))
    text = export(Text(path=str(tmp_path / "out.txt")), many).read_text(encoding="utf-8")
    assert "Proof: a | r | b0; a | r | b1; a | r | b2; a | r | b3; a | r | b4; and 4 more\n" in text


def test_text_shows_an_error_in_place_of_facts(tmp_path):
    failed = Retrieval(Question("q2", "Who?"), error="the endpoint\ndid not answer")
    path = export(Text(path=str(tmp_path / "out.txt")), failed)
    assert path.read_text(encoding="utf-8") == "# q2\nQuestion: Who?\nError: the endpoint did not answer\n\n"


@pytest.mark.parametrize("tokens", range(21, 60))
def test_a_questions_text_stays_within_its_tokens(tmp_path, tokens):
    path = export(Text(path=str(tmp_path / "out.txt"), tokens=tokens), LATVIA)
    text = path.read_text(encoding="utf-8")
    assert count_tokens(text) <= tokens
    assert f"of 2):\n{'Latvia' if tokens > 40 else ''}" in text


def test_own_wording_is_used(tmp_path):
    words = tmp_path / "words.yaml"
    words.write_text("triple: '({subject}, {relation}, {object})'\n", encoding="utf-8")
    path = export(Text(path=str(tmp_path / "out.txt"), paths=False, templates=str(words)), LATVIA)
    assert "Facts (2 of 2):\n(Latvia, capital, Riga) (start time: 1918)\n(Riga, population" in path.read_text("utf-8")


def test_tokens_must_be_above_zero(tmp_path):
    with pytest.raises(SettingsError, match="tokens must be at least 1, not 0"):
        Text(path=str(tmp_path / "out.txt"), tokens=0)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_is_said_in_a_sentence():
    driver = JsonLines(path="/dev/full")
    driver.open()
    driver.write([LATVIA])
    with pytest.raises(DriverError, match=r"^/dev/full: cannot be written: No space left on device; free some space"):
        driver.close()
    driver.close()


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, name):
    path = tmp_path / name
    path.write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    driver = JsonLines(path=str(path))
    driver.open()
    noise = os.urandom(20_000).hex()
    big = Retrieval(Question("q", "w", extra={"noise": noise}))
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(DriverError, match=f"{name}: cannot be written: File too large"):
            driver.write([big] * 30)
        driver.abort()
        driver.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == [name]


def test_a_link_goes_on_pointing_at_the_file_that_is_written(tmp_path):
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    export(JsonLines(path=str(tmp_path / "link.jsonl")), LATVIA)
    assert (tmp_path / "link.jsonl").is_symlink()
    assert "Riga" in (tmp_path / "real.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize(("path", "said"), [("", "path is empty"), (".", "is a folder")])
def test_a_target_that_is_no_file_is_refused(path, said):
    with pytest.raises(DriverError, match=said):
        JsonLines(path=path).open()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DriverError, match=r"cannot create its folder .*file/sub"):
        JsonLines(path=str(tmp_path / "file" / "sub" / "out.jsonl")).open()


def test_writing_before_opening_is_refused(tmp_path):
    with pytest.raises(DriverError, match="not open"):
        JsonLines(path=str(tmp_path / "out.jsonl")).write([LATVIA])


def test_what_a_killed_process_left_is_written_over(tmp_path):
    (tmp_path / ".out.jsonl.part").write_text("half a li")
    exporter = JsonLines(path=str(tmp_path / "out.jsonl"))
    exporter.open()
    exporter.close()
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]
    assert (tmp_path / "out.jsonl").read_text() == ""


def test_one_output_has_one_writer_at_a_time(tmp_path):
    first, second = (JsonLines(path=str(tmp_path / "out.jsonl")) for _ in range(2))
    first.open()
    with pytest.raises(DriverError, match=r"out\.jsonl is in use by .*; wait .*, or name another path"):
        second.open()
    first.close()
    second.open()
    second.close()

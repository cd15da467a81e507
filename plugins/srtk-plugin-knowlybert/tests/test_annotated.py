from __future__ import annotations

import json
from pathlib import Path

import pytest
from srtk_plugin_knowlybert.annotated import AnnotatedCorpus

from srtk_framework.testing.corpus import CorpusConformance
from srtk_framework.values import EntityMention, InputError

TEXT = "Ann was born in Riga in 1999."
ROWS = [
    {"id": "one", "text": TEXT, "mentions": [[16, 20, "riga"], [0, 3, "ann"]], "triples": []},
    {"text": "Oslo is a town."},
]
TREX = [
    {
        "text": TEXT,
        "entities": [
            {"uri": "http://www.wikidata.org/entity/Q1", "boundaries": [0, 3], "surfaceform": "Ann"},
            {"uri": "http://www.wikidata.org/entity/Q2", "boundaries": [0, 7], "surfaceform": "Ann was"},
            {"uri": "^1999-00-00^^http://www.w3.org/2001/XMLSchema#dateTime", "boundaries": [24, 28]},
            {"uri": "http://www.wikidata.org/entity/Q3", "boundaries": [16, 20], "surfaceform": "Riga"},
        ],
    },
    {"text": " "},
]


def opened(path: Path, **settings: str) -> AnnotatedCorpus:
    corpus = AnnotatedCorpus(path=str(path), **settings)
    corpus.open()
    return corpus


def written(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


class TestAnnotated(CorpusConformance):
    name = "annotated"

    @pytest.fixture
    def driver(self, tmp_path: Path) -> AnnotatedCorpus:
        return opened(written(tmp_path / "texts.jsonl", ROWS))

    @pytest.fixture
    def broken(self, tmp_path: Path) -> AnnotatedCorpus:
        return opened(written(tmp_path / "broken.jsonl", [ROWS[0], {"text": "a", "mentions": [[0, 2, "x"]]}]))

    @pytest.fixture
    def changed(self, driver: AnnotatedCorpus, tmp_path: Path) -> AnnotatedCorpus:
        return opened(written(tmp_path / "texts.jsonl", ROWS[:1]))

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> AnnotatedCorpus:
        return AnnotatedCorpus(path=str(tmp_path / "missing.jsonl"))

    def test_mentions_are_sorted(self, driver: AnnotatedCorpus) -> None:
        first, second = driver.read()
        assert first.mentions == (EntityMention(0, 3, "ann"), EntityMention(16, 20, "riga"))
        assert (second.id, second.mentions) == ("texts.jsonl#2", ())


def test_of_overlapping_mentions_in_t_rex_the_longest_counts(tmp_path: Path) -> None:
    (tmp_path / "re-nlg_0.json").write_text(json.dumps(TREX))
    (entry,) = opened(tmp_path, format="t-rex").read()
    assert entry.mentions == (EntityMention(0, 7, "Q2"), EntityMention(16, 20, "Q3"))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"text": "Riga", "mentions": [[0, 9, "riga"]]}, r":1: \[0, 9, 'riga'\] is no mention"),
        ({"text": "Riga", "mentions": [[2, 1, "riga"]]}, ":1: .* is no mention"),
        ({"text": "Riga", "mentions": [[0, 3, "riga"], [2, 4, "oslo"]]}, ":1: the mentions .* overlap"),
        ({"text": "Riga", "mentions": {}}, ":1: `mentions` must be a list"),
        ({"text": " "}, ":1: `text` must be"),
        ({"id": 3, "text": "Riga"}, ":1: `id` must be"),
    ],
)
def test_a_wrong_row_is_refused_with_its_line(tmp_path: Path, row: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        list(opened(written(tmp_path / "texts.jsonl", [row])).read())


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        ("{", "no JSON file"),
        ("{}", "a list of documents"),
        ('[{"text": "a", "entities": [{"uri": "Q1"}]}]', "document 1"),
    ],
)
def test_a_wrong_file_of_t_rex_is_refused(tmp_path: Path, documents: str, said: str) -> None:
    (tmp_path / "a.json").write_text(documents)
    with pytest.raises(InputError, match=said):
        list(opened(tmp_path, format="t-rex").read())


def test_mentions_may_touch_and_reach_both_ends_of_a_text(tmp_path: Path) -> None:
    rows = [
        {"text": "AnnRiga", "mentions": [[3, 7, "riga"], [0, 3, "ann"]]},
        {"text": "Bo", "mentions": [[0, 2, "bo"]]},
    ]
    first, second = opened(written(tmp_path / "texts.jsonl", rows)).read()
    assert first.mentions == (EntityMention(0, 3, "ann"), EntityMention(3, 7, "riga"))
    assert second.mentions == (EntityMention(0, 2, "bo"),)
    (tmp_path / "trex").mkdir()
    spans = [("Q1", [0, 3]), ("Q2", [3, 7]), ("Q3", [2, 4]), ("Q4", [3, 6])]
    document = {"text": "AnnRiga", "entities": [{"uri": uri, "boundaries": span} for uri, span in spans]}
    (tmp_path / "trex" / "a.json").write_text(json.dumps([document]))
    (entry,) = opened(tmp_path / "trex", format="t-rex").read()
    assert entry.mentions == (EntityMention(0, 3, "Q1"), EntityMention(3, 7, "Q2"))


@pytest.mark.parametrize("span", [[-1, 2], [1, 1], [0, 5], [0.0, 2], ["0", 2]])
def test_offsets_outside_of_a_text_or_of_nothing_are_refused(tmp_path: Path, span: list) -> None:
    with pytest.raises(InputError, match=r":1: .* is no mention; .* within the 4 characters"):
        list(opened(written(tmp_path / "texts.jsonl", [{"text": "Riga", "mentions": [[*span, "riga"]]}])).read())
    with pytest.raises(InputError, match="is no mention"):
        list(opened(written(tmp_path / "texts.jsonl", [{"text": "Riga", "mentions": [[0, 2, ""]]}])).read())


def test_files_of_a_folder_are_read_by_name_and_their_texts_are_numbered(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    written(tmp_path / "sub" / "a.jsonl", [{"text": "third"}])
    written(tmp_path / "b.jsonl", [{"text": "first"}, {"text": "second"}])
    (tmp_path / "c.json").write_text(json.dumps([{"text": "one"}, {"text": " "}, {"text": "two"}]))
    assert [(e.id, e.text) for e in opened(tmp_path).read()] == [
        ("b.jsonl#1", "first"),
        ("b.jsonl#2", "second"),
        ("sub/a.jsonl#1", "third"),
    ]
    assert [(e.id, e.text) for e in opened(tmp_path, format="t-rex").read()] == [
        ("c.json#1", "one"),
        ("c.json#3", "two"),
    ]
    with pytest.raises(InputError, match=r"no file here that ends in \.json;"):
        opened(tmp_path / "sub", format="t-rex")


@pytest.mark.parametrize(
    ("documents", "said"),
    [([{"text": "a"}, 3], "document 2"), ([{"text": "a"}, {"entities": []}], "document 2: a document has a `text`")],
)
def test_a_wrong_document_of_t_rex_is_counted_from_1(tmp_path: Path, documents: list, said: str) -> None:
    (tmp_path / "a.json").write_text(json.dumps(documents))
    with pytest.raises(InputError, match=said):
        list(opened(tmp_path, format="t-rex").read())


def test_the_fingerprint_is_of_names_and_content(tmp_path: Path) -> None:
    one = opened(written(tmp_path / "a.jsonl", ROWS)).fingerprint()
    assert AnnotatedCorpus(path=str(tmp_path / "a.jsonl")).fingerprint() == one
    assert opened(written(tmp_path / "b.jsonl", ROWS)).fingerprint() != one
    assert opened(written(tmp_path / "a.jsonl", ROWS[:1])).fingerprint() != one

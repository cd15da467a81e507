"""The index ``bm25``: its scores, and what it keeps on disk."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from srtk_plugin_index.indexes.bm25 import Bm25Index
from srtk_plugin_index.indexes.entry_file import EntryFile
from srtk_plugin_index.indexes.entry_filter import EntryFilter

from srtk_framework.records import checked, with_checksum
from srtk_framework.values import DriverError, EntityMention, Entry, Triple

TEXTS = {"a": "Riga is the capital of Latvia", "b": "Riga lies on the Daugava", "c": "Tallinn, Tallinn and Tartu"}


def made(folder: Path, texts: dict[str, str] = TEXTS, **settings) -> Bm25Index:
    index = Bm25Index(path=str(folder / "index"), **settings)
    index.create()
    index.add([Entry(id_, text) for id_, text in texts.items()])
    index.commit()
    return index


def by_hand(asked: list[str], words: list[list[str]], k1: float, b: float) -> list[float]:
    """BM25 in Lucene's form (Kamphuis et al. 2020, table 1): idf = ln(1 + (N - df + .5) / (df + .5)), no (k1 + 1)."""
    mean = sum(map(len, words)) / len(words)
    scores = []
    for row in words:
        score = 0.0
        for word in asked:
            df = sum(word in other for other in words)
            tf = row.count(word)
            idf = math.log(1 + (len(words) - df + 0.5) / (df + 0.5))
            score += idf * tf / (tf + k1 * (1 - b + b * len(row) / mean))
        scores.append(round(score, 4))
    return scores


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.5, 0.0), (2.0, 1.0)])
def test_scores_are_those_of_the_formula(tmp_path, k1, b):
    index = made(tmp_path, k1=k1, b=b)
    words = [text.lower().replace(",", "").split() for text in TEXTS.values()]
    for asked in ("riga", "the capital", "tallinn tallinn", "riga tartu of"):
        wanted = dict(zip(TEXTS, by_hand(asked.split(), words, k1, b), strict=True))
        found = {hit.entry.id: hit.score for hit in index.search([asked], 3)[0]}
        assert found == pytest.approx({id_: score for id_, score in wanted.items() if score}, abs=2e-4)


def test_scores_are_the_golden_ones_but_for_their_constant_factor(tmp_path):
    """Three sentences whose BM25 with the factor k1 + 1 = 2.2 was computed by hand; an entry with 0 is no hit."""
    texts = {
        "1": "ann was born in riga",
        "2": "bob lives in riga latvia",
        "3": "oslo is the capital of norway",
    }
    index = made(tmp_path, texts)
    for asked, wanted in (("ann riga", {"1": 1.4889, "2": 0.4823}), ("riga latvia", {"1": 0.4823, "2": 1.4889})):
        found = {hit.entry.id: 2.2 * hit.score for hit in index.search([asked], 3)[0]}
        assert found == pytest.approx(wanted, abs=2.2 * 1e-4)


STORY = {
    "1": "  Riga is old. It lies on the Daugava.  The mayor of Riga was born in Cēsis. He likes jazz!  ",
    "2": "Jazz festivals draw many guests. They come from afar.",
    "3": "Riga has jazz",
}


@pytest.mark.parametrize(
    ("sentences", "asked", "wanted"),
    [
        (1, "mayor of Riga", "The mayor of Riga was born in Cēsis."),
        (1, "riga", "Riga is old."),
        (1, "CESIS", "The mayor of Riga was born in Cēsis."),
        (2, "cesis jazz", "The mayor of Riga was born in Cēsis. He likes jazz!"),
        (2, "daugava cesis", "It lies on the Daugava.  The mayor of Riga was born in Cēsis."),
        (2, "riga cesis jazz", "The mayor of Riga was born in Cēsis. He likes jazz!"),
        (2, "riga jazz", "The mayor of Riga was born in Cēsis. He likes jazz!"),
        (9, "daugava", STORY["1"].strip()),
    ],
)
def test_a_hit_points_out_the_sentences_with_most_of_the_words(tmp_path, sentences, asked, wanted):
    index = made(tmp_path, STORY, sentences=sentences)
    hit = next(hit for hit in index.search([asked], 3)[0] if hit.entry.id == "1")
    assert hit.snippet == wanted
    assert hit.entry.text[hit.span[0] : hit.span[1]] == wanted
    assert hit.entry.text == STORY["1"]


def test_a_rare_word_of_a_passage_counts_more_than_a_common_one(tmp_path):
    texts = {"1": "A fox came. A wolf left.", **{str(n): "a wolf left" for n in range(2, 9)}}
    (hits,) = made(tmp_path, texts, sentences=1).search(["fox wolf"], 1)
    assert hits[0].snippet == "A fox came."


def test_passages_change_neither_what_is_found_nor_the_files(tmp_path):
    plain = made(tmp_path, STORY)
    whole = [(hit.entry, hit.score) for hit in plain.search(["riga jazz"], 3)[0]]
    assert all(hit.span is None and hit.snippet == hit.entry.text for hit in plain.search(["riga jazz"], 3)[0])
    again = Bm25Index(path=plain.path, sentences=1)
    again.open()
    assert [(hit.entry, hit.score) for hit in again.search(["riga jazz"], 3)[0]] == whole
    assert again.fingerprint() != plain.fingerprint()


def test_words_are_compared_without_case_accents_and_underscores(tmp_path):
    index = made(tmp_path, {"1": "Emir_Kusturica", "2": "São Paulo"})
    assert [hits[0].entry.id for hits in index.search(["EMIR kusturica", "sao paulo"], 1)] == ["1", "2"]


def test_entries_of_equal_text_come_by_id_however_many_there_are(tmp_path):
    index = made(tmp_path, {f"{n:04}": "the same words" for n in reversed(range(500))})
    assert [hit.entry.id for hit in index.search(["same"], 3)[0]] == ["0000", "0001", "0002"]


def test_an_index_without_a_word_finds_nothing(tmp_path):
    index = made(tmp_path, {"1": "?!", "2": "..."})
    assert index.search(["Riga"], 3) == [[]]
    assert index.size() == 2


def test_an_index_without_entries_can_be_kept(tmp_path):
    made(tmp_path, {}).close()
    again = Bm25Index(path=str(tmp_path / "index"))
    again.open()
    assert (again.size(), again.search(["Riga"], 3)) == (0, [[]])


def test_the_same_entries_make_the_same_bytes(tmp_path):
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        made(folder).close()
    trees = [{p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()} for folder in folders]
    assert trees[0] == trees[1]
    assert len(trees[0]) > 5


def test_an_index_of_other_constants_is_refused(tmp_path):
    made(tmp_path).close()
    with pytest.raises(
        DriverError, match=r"another k1 and b \(1.2 and 0.75\) than the recipe's \(2.0 and 0.75\).*srtk index build"
    ):
        Bm25Index(path=str(tmp_path / "index"), k1=2.0).open()


def test_a_file_that_was_cut_is_refused(tmp_path):
    made(tmp_path).close()
    (file,) = (tmp_path / "index").glob("*/entries.jsonl")
    file.write_bytes(file.read_bytes()[:-5])
    with pytest.raises(DriverError, match=r"entries.jsonl: is truncated or damaged.*srtk index build"):
        Bm25Index(path=str(tmp_path / "index")).open()


def test_a_folder_without_an_index_is_refused_and_kept(tmp_path):
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "mine.txt").write_text("mine")
    index = Bm25Index(path=str(tmp_path / "index"))
    with pytest.raises(DriverError, match="a folder without an index"):
        index.open()
    with pytest.raises(DriverError, match="choose another `path:`"):
        index.create()
    assert (tmp_path / "index" / "mine.txt").read_text() == "mine"


def test_a_manifest_of_another_format_is_refused(tmp_path):
    made(tmp_path).close()
    place = tmp_path / "index" / "manifest.json"
    data, _ = checked(place.read_bytes(), place, "")
    place.write_text(with_checksum(json.dumps({**data, "format": 99}))[0])
    with pytest.raises(DriverError, match="another format"):
        Bm25Index(path=str(tmp_path / "index")).open()


def test_a_manifest_that_lacks_something_is_refused_by_open_and_preflight(tmp_path):
    made(tmp_path).close()
    place = tmp_path / "index" / "manifest.json"
    place.write_text(with_checksum('{"format": 2}')[0])
    index = Bm25Index(path=str(tmp_path / "index"))
    with pytest.raises(DriverError, match=r"is damaged: .*manifest.json has no 'use'; .*srtk index build"):
        index.open()
    [(field, fault)] = index.preflight()
    assert field == "path"
    assert "is damaged" in fault


def test_a_file_that_grew_is_refused(tmp_path):
    made(tmp_path).close()
    (path,) = (tmp_path / "index").glob("*/entries.jsonl")
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(DriverError, match="is truncated or damaged"):
        Bm25Index(path=str(tmp_path / "index")).open()


@pytest.mark.parametrize("file", ["entries.offsets.npy", "entries.ranks.npy", "indices.csc.index.npy"])
def test_a_file_whose_bytes_were_lost_is_refused(tmp_path, file):
    made(tmp_path).close()
    (path,) = (tmp_path / "index").glob(f"*/{file}")
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(DriverError, match=r"npy: is damaged: block 1 of 1 .*; .*srtk index build"):
        Bm25Index(path=str(tmp_path / "index")).open()


@pytest.mark.parametrize("line", [b"", b"[1]", b"{}"])
def test_an_entry_whose_bytes_were_lost_is_found(tmp_path, line):
    made(tmp_path).close()
    (path,) = (tmp_path / "index").glob("*/entries.jsonl")
    first = path.read_bytes().split(b"\n", 1)[0]
    path.write_bytes(line.ljust(len(first)) + path.read_bytes()[len(first) :])
    with pytest.raises(DriverError, match=r"entries.jsonl: is damaged: block 1 of 1 .*srtk index build"):
        Bm25Index(path=str(tmp_path / "index")).open()


def test_the_file_of_another_index_is_found(tmp_path):
    made(tmp_path).close()
    other = Bm25Index(path=str(tmp_path / "other"))
    other.create()
    other.add([Entry("x", "Riga is here"), Entry("y", "Latvia is there")])
    other.commit()
    other.close()
    for name in ("vocab.index.json", "entries.jsonl"):
        (one,), (two,) = (list((tmp_path / folder).glob(f"*/{name}")) for folder in ("index", "other"))
        kept = one.read_bytes()
        one.write_bytes(two.read_bytes())
        with pytest.raises(DriverError, match=r"damaged.*srtk index build|was cut; .*srtk index build"):
            Bm25Index(path=str(tmp_path / "index")).open()
        one.write_bytes(kept)
    Bm25Index(path=str(tmp_path / "index")).open()


def test_the_sentence_of_the_rarer_word_is_pointed_out_by_the_inverse_document_frequency(tmp_path):
    """Of 4 entries, 3 have *one*, 2 *two* and 1 *rare*, so that *one* and *two* together have less than *rare*."""
    texts = {"a": "One two. Rare.", "b": "one two", "c": "one", "d": "other"}
    index = made(tmp_path, texts, sentences=1)
    [[hit, *_]] = index.search(["one two rare"], 1)
    assert hit.span == (9, 14)
    assert index._weights(["one", "two", "rare", "unknown"], 4) == pytest.approx(
        {"one": math.log(1 + 1.5 / 3.5), "two": math.log(2.0), "rare": math.log(1 + 3.5 / 1.5)}
    )


def test_only_an_index_with_passages_names_them_in_its_fingerprint(tmp_path):
    plain, passages = made(tmp_path / "a"), made(tmp_path / "b", sentences=2)
    assert "passages" not in plain.fingerprint()
    assert passages.fingerprint().endswith(" by passages of 2")


def test_an_index_counts_its_entries_when_it_is_closed_open_and_added_to(tmp_path):
    index = made(tmp_path)
    assert index.size() == 3
    index.add([Entry("d", "four")])
    assert index.size() == 4
    index.close()
    assert index.size() == 0


def test_a_damaged_line_is_named_by_its_number_from_one(tmp_path):
    made(tmp_path).close()
    [lines] = tmp_path.rglob("entries.jsonl")
    content = lines.read_bytes().splitlines(keepends=True)
    lines.write_bytes(content[0] + b"{" * (len(content[1]) - 1) + b"\n" + content[2])
    entries = EntryFile(lines.parent)
    assert entries.entry(0).id == "a"
    with pytest.raises(DriverError, match="is damaged at entry 2;"):
        entries.entry(1)
    assert entries.entry(2).id == "c"


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8])
def test_each_entry_is_found_by_its_id_and_no_other(tmp_path, count):
    ids = [f"{number * 7 % 10}x" for number in range(count)]
    made(tmp_path, dict.fromkeys(ids, "text")).close()
    [lines] = tmp_path.rglob("entries.jsonl")
    entries = EntryFile(lines.parent)
    assert [entries.number(id_) for id_ in ids] == list(range(count))
    assert [entries.number(id_) for id_ in ("", "~", *(f"{id_}x" for id_ in ids))] == [None] * (count + 2)


def test_a_filter_takes_an_entry_that_has_a_wanted_value_in_each_field():
    entry = Entry(
        "a",
        "",
        (Triple("s", "r", "o"), Triple("s", "q", "m")),
        mentions=(EntityMention(0, 1, "m"), EntityMention(2, 3, "n")),
    )
    fields = {"ids": ["a"], "relations": ["r", "q"], "entities": ["s", "o", "m", "n"]}
    for name, values in fields.items():
        for value in values:
            assert EntryFilter(**{name: [value]}).passes(entry)
            assert EntryFilter(**{name: ["none", value]}).passes(entry)
        assert not EntryFilter(**{name: ["none"]}).passes(entry)
        assert not EntryFilter(**{name: []}).passes(entry)
        assert EntryFilter(**{name: []})
    assert EntryFilter().passes(entry)
    assert not EntryFilter()
    assert not EntryFilter(ids=["a"], relations=["none"]).passes(entry)

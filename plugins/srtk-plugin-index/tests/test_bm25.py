"""The index ``bm25``: its scores, and what it keeps on disk."""

from __future__ import annotations

import errno
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_index.corpora.triples import TripleCorpus
from srtk_plugin_index.indexes import folder_index
from srtk_plugin_index.indexes.bm25 import Bm25Index, _words
from srtk_plugin_index.indexes.entry_file import EntryFile, EntryWriter, best, entry_line, entry_of
from srtk_plugin_index.indexes.entry_filter import EntryFilter
from srtk_plugin_index.indexes.lineage import _apart
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.records import checked, sums_of, with_checksum
from srtk_framework.values import DriverError, EntityMention, Entry, Literal, RunError, Triple

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


def test_scores_are_whole_ten_thousandths(tmp_path):
    index = made(tmp_path, {f"{n:02}": "word " * n + "other " * (n % 7) for n in range(1, 40)})
    scores = [hit.score for hit in index.search(["word other"], 50)[0]]
    assert len({*scores}) > 20
    assert scores == [round(score, 4) for score in scores]


def test_an_index_is_built_and_read_without_a_word_on_the_screen(tmp_path, capfd):
    index = made(tmp_path)
    assert len(index.search(["Riga"], 1)[0]) == 1
    assert tuple(capfd.readouterr()) == ("", "")
    [vocabulary] = tmp_path.rglob("vocab.index.json")
    assert {*json.loads(vocabulary.read_text())} == {word for text in TEXTS.values() for word in _words(text)}
    assert isinstance(index._ranker.scores["data"], np.memmap), "the weights are mapped, not loaded"


ENTRY = Entry(
    "e",
    "Ann knows Bo",
    (Triple("a", "knows", "b"), Triple("a", "age", Literal('"7"'))),
    mentions=(EntityMention(0, 3, "a"),),
)


def test_an_entry_is_a_line_of_json_and_comes_back_with_its_literals_and_mentions():
    line = entry_line(ENTRY)
    assert line == '["e","Ann knows Bo",[["a","knows","b"],["a","age","\\"7\\"",1]],[[0,3,"a"]]]\n'
    back = entry_of(json.loads(line))
    assert back == ENTRY
    assert [type(triple.object) for triple in back.triples] == [str, Literal]
    assert entry_line(Entry("e", "x")) == '["e","x",[]]\n'


@pytest.mark.parametrize("line", ["{", "7", "[1]", '["a","x",[["s"]]]', '["a","x",[["s","r","o"]],[[0]]]'])
def test_a_line_that_is_no_entry_is_damage(tmp_path, line):
    writer = EntryWriter(tmp_path)
    writer.append([Entry("a", "x" * 40)])
    writer.finish()
    writer.close()
    [path] = tmp_path.glob("*.jsonl")
    path.write_text(line.ljust(path.stat().st_size - 1) + "\n")
    with pytest.raises(DriverError, match="is damaged at entry 1;"):
        EntryFile(tmp_path).entry(0)


def test_entries_are_written_on_after_those_that_are_there(tmp_path):
    for start in (0, 3):
        writer = EntryWriter(tmp_path)
        assert list(writer.ids) == [f"{n}" for n in range(start)]
        writer.append([Entry(f"{n}", "x" * n) for n in range(start, start + 3)])
        writer.finish()
        writer.close()
    entries = EntryFile(tmp_path)
    assert [entries.entry(n) for n in range(len(entries))] == [Entry(f"{n}", "x" * n) for n in range(6)]
    assert list(entries.texts()) == ["x" * n for n in range(6)]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.integers(1, 13), st.randoms())
def test_the_best_are_the_greatest_keys_and_of_equal_ones_the_first_by_rank(keys, k, chance):
    numbers = chance.sample(range(20), len(keys))
    ranks = np.array(chance.sample(range(20), 20))
    found = best(np.array(keys), np.array(numbers), ranks, k)
    order = sorted(zip(numbers, keys, strict=True), key=lambda pair: (-pair[1], ranks[pair[0]]))
    assert found == order[:k]


def test_an_entry_without_an_id_or_with_an_id_that_is_there_is_refused_in_one_call_and_over_two(tmp_path):
    index = Bm25Index(path=str(tmp_path / "index"))
    index.create()
    with pytest.raises(DriverError, match=f"an entry has no id: '{'x' * 60}'; give"):
        index.add([Entry("", "x" * 61)])
    with pytest.raises(DriverError, match="id 'a' already"):
        index.add([Entry("a", "one"), Entry("a", "two")])
    index.add([Entry("a", "one")])
    with pytest.raises(DriverError, match="id 'a' already"):
        index.add([Entry("a", "two")])
    assert index.commit() == 1


def test_a_file_that_is_missing_or_cut_is_found_before_a_run(tmp_path):
    index = made(tmp_path)
    assert index.preflight() == []
    [path] = tmp_path.rglob("entries.jsonl")
    path.write_bytes(path.read_bytes()[:-1])
    for _ in range(2):
        [(field, fault)] = index.preflight()
        assert field == "path"
        assert "is damaged: entries.jsonl is missing or was cut; build" in fault
        path.unlink(missing_ok=True)
    assert "was never built" in Bm25Index(path=str(tmp_path / "none")).preflight()[0][1]


def test_a_file_that_its_library_cannot_read_is_damage_though_its_checksum_is_right(tmp_path):
    made(tmp_path).close()
    place = tmp_path / "index" / "manifest.json"
    data, _ = checked(place.read_bytes(), place, "")
    path = tmp_path / "index" / data["generation"] / "entries.ranks.npy"
    path.write_bytes(b"no array")
    data["files"][path.name] = sums_of([b"no array"])
    place.write_text(with_checksum(json.dumps(data))[0])
    index = Bm25Index(path=str(tmp_path / "index"))
    with pytest.raises(DriverError, match=r"is damaged \(.*\); build"):
        index.open()
    with pytest.raises(DriverError, match=r"open\(\)"):
        index.search(["Riga"], 1)


def test_a_manifest_that_cannot_be_read_is_damage(tmp_path, monkeypatch):
    made(tmp_path).close()

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(DriverError, match=r"is damaged: .*manifest.json: Permission denied; build"):
        Bm25Index(path=str(tmp_path / "index")).open()


def test_an_index_of_another_driver_is_refused(tmp_path):
    class Other(Bm25Index):
        pass

    made(tmp_path).close()
    with pytest.raises(DriverError, match=r"an index of another kind \(Bm25Index\)"):
        Other(path=str(tmp_path / "index")).open()


def test_a_full_disk_is_told_when_a_build_begins_and_when_it_is_published(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    index = made(tmp_path)
    index.add([Entry("d", "four")])
    monkeypatch.setattr(folder_index, "publish_generation", full)
    with pytest.raises(RunError, match="the disk is full; index was not built"):
        index.commit()
    with pytest.raises(DriverError, match=r"open\(\) or create\(\)"):
        index.search(["four"], 1)
    index.close()
    monkeypatch.setattr(folder_index, "workplace", full)
    with pytest.raises(RunError, match="the disk is full; index was not built"):
        index.create()
    index.open()
    assert index.size() == 3


def test_what_is_at_a_path_is_told_apart_where_there_is_no_index(tmp_path):
    index = Bm25Index(path=str(tmp_path / "index"))
    (tmp_path / "index").write_text("a file")
    with pytest.raises(DriverError, match="holds something that is no index; choose another `path:`"):
        index.create()
    (tmp_path / "index").unlink()
    (tmp_path / "index").mkdir()
    with pytest.raises(DriverError, match="it was never built"):
        index.open()
    (tmp_path / "index" / ("0" * 16)).mkdir()
    with pytest.raises(DriverError, match="its build was broken off"):
        index.open()
    (tmp_path / "index" / "mine").mkdir()
    with pytest.raises(DriverError, match="is a folder without an index"):
        index.open()


def test_an_index_has_one_fingerprint_before_and_after_it_is_opened(tmp_path):
    whole = made(tmp_path)
    closed = Bm25Index(path=whole.path)
    before = closed.fingerprint()
    closed.open()
    assert before == closed.fingerprint() == whole.fingerprint()
    assert Bm25Index(path=str(tmp_path / "none")).fingerprint().endswith(" of nothing")


def test_sources_and_counts_of_what_was_left_out_are_in_the_manifest(tmp_path):
    graph = MemoryGraph(triples=[["a", "r", "b"]])
    graph.open()
    index = Bm25Index(path=str(tmp_path / "index"), corpora=[TripleCorpus(graph=graph)])
    index.create()
    assert index.sources() == [graph.source()]
    index.add([ENTRY])
    index.note([{"longest": 2}])
    index.commit()
    index.close()
    alone = Bm25Index(path=index.path)
    alone.open()
    assert alone.sources() == [graph.source()]
    place = tmp_path / "index" / "manifest.json"
    assert json.loads(place.read_text())["left_out"] == [{"longest": 2}]
    alone.add([Entry("f", "more")])
    alone.commit()
    assert json.loads(place.read_text())["left_out"] == [{"longest": 2}]
    assert json.loads(place.read_text())["sources"] == []
    made(tmp_path / "plain")
    assert "left_out" not in json.loads((tmp_path / "plain" / "index" / "manifest.json").read_text())


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        ("a" * 120, "b" * 120, ("a" * 120, "b" * 120)),
        ("a" * 121, "b", (f"{'a' * 120}…", "b")),
        (f"{'a' * 40}x{'b' * 79}", f"{'a' * 40}y{'b' * 80}", (f"{'a' * 40}x{'b' * 79}", f"{'a' * 40}y{'b' * 79}…")),
        (f"{'a' * 41}x{'b' * 79}", f"{'a' * 41}y", (f"…{'a' * 40}x{'b' * 79}", f"…{'a' * 40}y")),
        (f"{'a' * 200}x{'b' * 80}", f"{'a' * 200}", (f"…{'a' * 40}x{'b' * 79}…", f"…{'a' * 40}")),
    ],
)  # fmt: skip
def test_of_two_long_fingerprints_a_hundred_and_twenty_characters_are_shown_from_before_they_differ(one, other, shown):
    assert _apart(one, other) == shown
    assert _apart(other, one) == shown[::-1]

"""The index ``vectors``: candidates by short codes, exact scores, and builds that are taken up again."""

from __future__ import annotations

import logging
import subprocess
import sys
import time
from pathlib import Path

import attrs
import numpy as np
import pytest
from kit.kills import tree
from srtk_plugin_index.indexes import inverted_lists, vectors
from srtk_plugin_index.indexes.entry_filter import EntryFilter
from srtk_plugin_index.indexes.inverted_lists import _even
from srtk_plugin_index.indexes.vector_journal import HEAD, RECORDS, VectorJournal
from srtk_plugin_index.indexes.vectors import VectorIndex

from srtk_framework.records import with_checksum
from srtk_framework.testing import ToyEncoder, ToySubgraphEncoder
from srtk_framework.values import DriverError, EntityMention, Entry, Triple

WIDTH, MANY = 17, 3000
LEAST = vectors._LEAST


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Make lists of a thousand entries too, and read them in several blocks."""
    monkeypatch.setattr(vectors, "_LEAST", 1000)
    monkeypatch.setattr(inverted_lists, "_BLOCK", 700)


@attrs.define(eq=False)
class Counting(ToyEncoder):
    """Counts the texts that it encodes, and breaks off after some."""

    seen: list[str] = attrs.field(factory=list, repr=False)
    most: int = attrs.field(default=10**9, repr=False)

    def encode(self, texts):
        if len(self.seen) + len(texts) > self.most:
            raise DriverError("the encoder broke off")
        self.seen += texts
        return super().encode(texts)

    def fingerprint(self):
        return f"counting({self.dimensions})"


def opened(driver):
    driver.open()
    return driver


def over(folder, **settings):
    encoder = settings.pop("encoder", None) or opened(ToyEncoder(dimensions=WIDTH))
    return VectorIndex(path=str(folder / "index"), encoder=encoder, **settings)


def drawn(count=MANY, seed=0, groups=40):
    """Draw vectors in groups, as those of texts are."""
    centres = np.random.default_rng(5).normal(size=(groups, WIDTH))
    made = np.random.default_rng(seed)
    return (centres[made.integers(groups, size=count)] + 0.5 * made.normal(size=(count, WIDTH))).astype(np.float32)


def entries_of(rows):
    return [
        Entry(f"{n:05}", f"entry {n}", (Triple(f"s{n % 7}", f"r{n % 3}", f"o{n}"),), row) for n, row in enumerate(rows)
    ]


def filled(index, entries, at_once=MANY):
    index.create()
    for start in range(0, len(entries), at_once):
        index.add(entries[start : start + at_once])
    index.commit()
    return index


def pairs(found):
    return [[(hit.entry.id, hit.score) for hit in hits] for hits in found]


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_hits_have_exact_scores_and_hardly_one_is_missing(tmp_path, similarity):
    rows, asked = drawn(), drawn(50, 1)
    index = filled(over(tmp_path, similarity=similarity, probes=16), entries_of(rows))
    assert next(Path(index.path).glob("*/lists.faiss")).is_file()
    scores = asked.astype(np.float64) @ rows.T.astype(np.float64)
    if similarity == "cosine":
        scores /= np.linalg.norm(asked, axis=1)[:, None] * np.linalg.norm(rows, axis=1)
    shared = 0
    for hits, of_all in zip(index.near(asked, 10), scores, strict=True):
        numbers = [int(hit.entry.id) for hit in hits]
        assert [hit.score for hit in hits] == pytest.approx(of_all[numbers], abs=6e-5)
        assert all(np.array_equal(hit.entry.vector, rows[number]) for hit, number in zip(hits, numbers, strict=True))
        shared += len({*numbers} & {*np.argsort(-of_all)[:10].tolist()})
    assert shared >= 475


def test_all_entries_are_found_if_so_many_are_asked_for(tmp_path):
    entries = entries_of(drawn())
    asked = drawn(3, 1)
    exact = filled(over(tmp_path / "exact", kind="exact"), entries).near(asked, MANY + 5)
    assert pairs(filled(over(tmp_path, probes=1), entries).near(asked, MANY + 5)) == pairs(exact)


def test_a_hit_does_not_depend_on_the_others_of_its_batch(tmp_path):
    index = filled(over(tmp_path), entries_of(drawn()))
    asked = drawn(50, 1)
    assert pairs(index.near(asked, 10)) == [pairs(index.near(asked[i : i + 1], 10))[0] for i in range(50)]


def test_entries_that_were_added_later_give_the_same_bytes_as_all_at_once(tmp_path):
    entries = entries_of(drawn())
    whole = filled(over(tmp_path / "whole"), entries)
    grown = filled(over(tmp_path / "grown"), entries[:1500])
    grown.close()
    grown.open()
    grown.add(entries[1500:2000])
    grown.add(entries[2000:])
    grown.commit()
    assert tree(Path(grown.path)) == tree(Path(whole.path))


def test_the_order_of_adding_changes_no_list(tmp_path):
    entries = entries_of(drawn())
    asked = drawn(100, 1)
    one = filled(over(tmp_path / "one", probes=4), entries)
    other = filled(over(tmp_path / "other", probes=4), entries[::-1], 500)
    assert pairs(one.near(asked, 10)) == pairs(other.near(asked, 10))


@pytest.mark.parametrize("kind", ["approximate", "exact"])
@pytest.mark.parametrize(
    ("only", "passes"),
    [
        ({"relations": ["r1"]}, lambda n: n % 3 == 1),
        ({"relations": ["r0", "r1"], "entities": ["s2", "o5"]}, lambda n: n % 3 < 2 and n % 7 == 2),
        ({"ids": ["00012", "00500", "none"]}, lambda n: n in (12, 500)),
        ({"entities": ["nobody"]}, lambda n: False),
    ],
)
def test_only_entries_that_pass_the_filter_are_found(tmp_path, kind, only, passes):
    entries = entries_of(drawn())
    filled(over(tmp_path, kind=kind), entries).close()
    index = opened(over(tmp_path, kind=kind, only=EntryFilter(**only)))
    (hits,) = index.near(drawn(1, 1), MANY)
    assert sorted(int(hit.entry.id) for hit in hits) == [n for n in range(MANY) if passes(n)]
    assert index.size() == MANY


def test_a_mention_is_an_entity_of_an_entry():
    entry = Entry("1", "Riga is old", mentions=(EntityMention(0, 4, "Q1773"),))
    assert EntryFilter(entities=["Q1773"]).passes(entry)
    assert not EntryFilter(entities=["Q1"]).passes(entry)


def test_an_index_of_another_kind_is_refused(tmp_path):
    filled(over(tmp_path), entries_of(drawn(10))).close()
    with pytest.raises(DriverError, match=r"built with another kind and similarity .* than the recipe's \(exact\)"):
        over(tmp_path, kind="exact").open()


def test_lists_whose_bytes_were_lost_are_refused(tmp_path):
    index = filled(over(tmp_path), entries_of(drawn()))
    index.close()
    path = next(Path(index.path).glob("*/lists.faiss"))
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(DriverError, match=r"lists.faiss: is damaged: block 1 .*srtk index build") as caught:
        index.open()
    assert "\n" not in str(caught.value)


def test_a_damaged_matrix_is_refused(tmp_path):
    index = filled(over(tmp_path), entries_of(drawn()))
    index.close()
    path = next(Path(index.path).glob("*/vectors.f4"))
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(DriverError, match=r"vectors.f4: is truncated or damaged"):
        over(tmp_path).open()


@pytest.mark.parametrize("kind", ["approximate", "exact"])
def test_a_flipped_bit_of_a_vector_is_refused(tmp_path, kind):
    rows = drawn()
    index = filled(over(tmp_path, kind=kind), entries_of(rows))
    index.close()
    path = next(Path(index.path).glob("*/vectors.f4"))
    data = bytearray(path.read_bytes())
    data[4 * WIDTH * 70 + 1] ^= 4
    path.write_bytes(data)

    with pytest.raises(DriverError, match=r"vectors.f4: is damaged: block 1 .*srtk index build"):
        index.open()


def test_subgraphs_are_encoded_by_their_triples_around_their_centre(tmp_path):
    graphs = opened(ToySubgraphEncoder(dimensions=WIDTH))
    index = over(tmp_path, subgraph_encoder=graphs)
    entries = [Entry(f"s{n}", "", (Triple(f"s{n}", "r", f"o{n}"), Triple(f"o{n}", "q", f"p{n}"))) for n in range(20)]
    filled(index, entries)
    rows = graphs.encode([entry.triples for entry in entries], [entry.id for entry in entries])
    assert [hits[0].entry.id for hits in index.near(rows, 1)] == [entry.id for entry in entries]
    index.close()
    with pytest.raises(DriverError, match="built with another subgraph encoder"):
        over(tmp_path).open()


def texts(count=3000):
    return [Entry(f"t{n}", f"text {n} of {n * n}") for n in range(count)]


def test_a_build_that_broke_off_is_taken_up_where_it_was(tmp_path, caplog):
    whole = filled(over(tmp_path / "whole", encoder=opened(Counting(dimensions=WIDTH))), texts(), 100)
    assert caplog.text == ""
    broken = over(tmp_path, encoder=opened(Counting(dimensions=WIDTH, most=2000)))
    with pytest.raises(DriverError, match="broke off"):
        filled(broken, texts(), 100)
    broken.close()
    encoder = opened(Counting(dimensions=WIDTH))
    with caplog.at_level(logging.WARNING):
        index = filled(over(tmp_path, encoder=encoder), texts(), 64)
    assert "2,000 vectors of a build of the index" in caplog.text
    assert len(encoder.seen) == 1000
    assert tree(Path(index.path)) == tree(Path(whole.path))
    index.close()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_build_that_is_taken_up_takes_only_what_is_still_the_same(tmp_path):
    broken = over(tmp_path, encoder=opened(Counting(dimensions=WIDTH, most=2000)))
    with pytest.raises(DriverError, match="broke off"):
        filled(broken, texts(), 100)
    broken.close()
    changed = [attrs.evolve(entry, text=f"{entry.text}!") for entry in texts()[:50]] + texts()[50:2000]
    encoder = opened(Counting(dimensions=WIDTH))
    index = filled(over(tmp_path, encoder=encoder), changed)
    assert encoder.seen == [entry.text for entry in changed[:50]]
    assert index.size() == 2000


def test_vectors_of_another_encoder_are_not_taken_up(tmp_path):
    broken = over(tmp_path, encoder=opened(Counting(dimensions=WIDTH, most=2000)))
    with pytest.raises(DriverError, match="broke off"):
        filled(broken, texts(), 100)
    broken.close()
    encoder = opened(Counting(dimensions=WIDTH + 1))
    assert filled(over(tmp_path, encoder=encoder), texts(), 100).size() == len(encoder.seen) == 3000


SCRIPT = """\
import sys
import time

from srtk_framework.testing import ToyEncoder
from srtk_framework.values import Entry
from srtk_plugin_index.indexes.vectors import VectorIndex

class Slow(ToyEncoder):
    def encode(self, texts):
        time.sleep(float(sys.argv[2]))
        return super().encode(texts)

index = VectorIndex(path=sys.argv[1], encoder=Slow(dimensions=17))
index.create()
for start in range(0, 2000, 100):
    index.add([Entry(f"t{n}", f"text {n} of {n * n}") for n in range(start, start + 100)])
index.commit()
index.close()
"""


def test_a_build_that_was_killed_is_taken_up(tmp_path):
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "index")]
    records = tmp_path / ".index.journal" / RECORDS
    with subprocess.Popen([*command, "0.2"]) as build:
        while not records.exists() or records.stat().st_size < 5 * 100 * (16 + 4 * WIDTH + 4):
            assert build.poll() is None
            time.sleep(0.01)
        build.kill()
    assert build.returncode == -9
    again = subprocess.run([*command, "0"], capture_output=True, text=True, check=True)
    assert "vectors of a build of the index" in again.stderr
    assert "that was broken off are taken up" in again.stderr
    subprocess.run([*command[:-1], str(tmp_path / "whole"), "0"], check=True)
    assert tree(tmp_path / "index") == tree(tmp_path / "whole")


def test_a_record_that_is_not_whole_is_encoded_again(tmp_path):
    encoder = opened(ToyEncoder(dimensions=WIDTH))
    parts = [f"part {n}" for n in range(10)]

    def encode(places):
        asked.extend(places)
        return encoder.encode([parts[at] for at in places])

    asked: list[int] = []
    rows = VectorJournal(tmp_path / "j", "toy").rows(parts, encode)
    path = tmp_path / "j" / RECORDS
    data = bytearray(path.read_bytes())
    data[7 * len(data) // 10 + 20] ^= 1
    path.write_bytes(bytes(data[:-3]))
    asked.clear()
    journal = VectorJournal(tmp_path / "j", "toy")
    assert len(journal) == 7
    assert np.array_equal(journal.rows(parts, encode), rows)
    assert asked == [7, 8, 9]
    assert len(VectorJournal(tmp_path / "j", "toy")) == 10


def test_records_of_another_encoder_are_encoded_again(tmp_path):
    for made_by, value in (("toy", 1), ("other", 2)):
        VectorJournal(tmp_path / made_by, made_by).rows(["a"], lambda _, value=value: np.full((1, 3), value, "f4"))
    (tmp_path / "other" / RECORDS).replace(tmp_path / "toy" / RECORDS)
    assert len(VectorJournal(tmp_path / "toy", "toy")) == 0


def test_a_journal_leaves_what_is_not_its_own(tmp_path):
    folder = tmp_path / "j"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    VectorJournal(folder, "toy").rows(["a"], lambda _: np.ones((1, 3), np.float32))
    (folder / f".{HEAD}.part").touch()
    assert len(VectorJournal(folder, "other")) == 0
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("text", "fault"), [(with_checksum('{"a":1}')[0], "no journal of vectors"), ('{"made', "is damaged.*encoded again")]
)
def test_a_file_that_heads_no_journal_is_refused(tmp_path, text, fault):
    (tmp_path / HEAD).write_text(text)
    with pytest.raises(DriverError, match=fault):
        VectorJournal(tmp_path, "toy")
    with pytest.raises(DriverError, match="is a file; name a folder"):
        VectorJournal(tmp_path / HEAD, "toy")


def test_the_fingerprints_of_two_encoders_are_shown_where_they_differ(tmp_path):
    class Long(ToyEncoder):
        def fingerprint(self):
            return f"{'long ' * 40}{super().fingerprint()} of {'something ' * 40}"

    filled(over(tmp_path, encoder=opened(Long(dimensions=WIDTH))), texts()[:10]).close()
    with pytest.raises(DriverError) as caught:
        over(tmp_path, encoder=opened(Long(dimensions=WIDTH, letters=4))).open()
    assert "letters=3" in str(caught.value)
    assert "letters=4" in str(caught.value)


def test_equal_parts_are_encoded_once(tmp_path):
    encoder = opened(ToyEncoder(dimensions=WIDTH))
    seen = []
    rows = VectorJournal(tmp_path / "j", "toy").rows(
        ["a", "b", "a"], lambda places: (seen.extend(places), encoder.encode(["ab"[at % 2] for at in places]))[1]
    )
    assert len(seen) == 2
    assert np.array_equal(rows[0], rows[2])


def test_a_journal_has_records_of_a_fixed_length_in_any_folder_and_keeps_none_of_a_lost_head(tmp_path):
    folder = tmp_path / "new" / "folder"
    rows = np.ones((2, WIDTH), np.float32)
    assert np.array_equal(VectorJournal(folder, "toy").rows(["a", "b"], lambda _: rows), rows)
    assert (folder / RECORDS).stat().st_size == 2 * (16 + 4 * WIDTH + 4)
    (folder / HEAD).unlink()
    assert np.array_equal(VectorJournal(folder, "toy").rows(["b"], lambda _: 2 * rows[:1]), 2 * rows[:1])
    assert len(VectorJournal(folder, "toy")) == 1


@pytest.mark.parametrize("head", ['{"made_by":"toy","dimensions":null}', '{"made_by":"toy","dimensions":"three"}'])
def test_a_journal_whose_vectors_have_no_length_is_refused(tmp_path, head):
    (tmp_path / HEAD).write_text(with_checksum(head)[0])
    with pytest.raises(DriverError, match="no journal of vectors"):
        VectorJournal(tmp_path, "toy")


def test_a_journal_that_cannot_be_read_is_told(tmp_path, monkeypatch):
    VectorJournal(tmp_path, "toy").rows(["a"], lambda _: np.ones((1, 3), np.float32))

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(DriverError, match=r"journal.json: cannot be read \(Permission denied\); delete"):
        VectorJournal(tmp_path, "toy")


def test_lists_are_made_from_the_documented_number_of_entries_on_and_only_for_approximate_searches(tmp_path):
    assert f"Below {LEAST:,} entries both do" in VectorIndex.__doc__
    for count, kind, made in ((999, "approximate", False), (1000, "approximate", True), (1000, "exact", False)):
        index = filled(over(tmp_path / f"{kind}{count}", kind=kind), entries_of(drawn(count)))
        assert bool([*Path(index.path).glob("*/lists.faiss")]) is made


def test_a_search_compares_two_hundred_candidates_or_four_for_each_hit(tmp_path):
    index = filled(over(tmp_path), entries_of(drawn()))
    for k, count in ((1, 200), (50, 200), (51, 204), (MANY, MANY)):
        [(numbers, rows)] = index.shortlist(drawn(1, 1), k)
        assert len(numbers) == count
        assert np.array_equal(rows, drawn()[numbers])


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_lengths_count_in_lists_as_they_do_in_scores(tmp_path, similarity):
    lengths = 10 ** np.random.default_rng(7).uniform(-2, 2, size=MANY)
    rows = (drawn(groups=MANY) * lengths[:, None]).astype(np.float32)
    asked = drawn(30, 1, groups=MANY)
    lists, exact = (
        filled(over(tmp_path / kind, similarity=similarity, kind=kind, probes=100), entries_of(rows)).near(asked, 10)
        for kind in ("approximate", "exact")
    )
    found, wanted = ([{hit.entry.id for hit in hits} for hits in one] for one in (lists, exact))
    assert sum(len(one & other) for one, other in zip(found, wanted, strict=True)) >= 270


def test_rows_of_codes_have_an_even_width_and_length_one_but_for_zeros():
    rows = np.array([[3, 4, 0], [0, 0, 0], [0.3, 0, 0.4]], np.float32)
    assert _even(rows, unit=False).tolist() == pytest.approx(np.pad(rows, ((0, 0), (0, 1))))
    assert _even(rows, unit=True) == pytest.approx(np.array([[0.6, 0.8, 0, 0], [0, 0, 0, 0], [0.6, 0, 0.8, 0]]))
    assert _even(rows[:, :2], unit=True).shape == (3, 2)


def test_lists_are_searched_once_where_they_have_enough_rows(tmp_path):
    index = filled(over(tmp_path, probes=10), entries_of(drawn()))
    faiss_index, calls = index._lists._index, []

    class Counted:
        nlist = faiss_index.nlist

        def search(self, *arguments, params):
            calls.append(params.nprobe)
            return faiss_index.search(*arguments, params=params)

    index._lists._index = Counted()
    assert len(index._lists.search(drawn(1, 1)[0], 100, 10)) == 100
    assert calls == [10]
    calls.clear()
    assert len(index._lists.search(drawn(1, 1)[0], MANY, 10)) == MANY
    assert calls == [10, 20, 40, 55]

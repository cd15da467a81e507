"""The index ``qdrant``: scores, filters, additions, builds that are taken up, and what is refused."""

from __future__ import annotations

import logging
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import attrs
import numpy as np
import pytest
from srtk_plugin_index.corpora.triples import TripleCorpus
from srtk_plugin_index.indexes.entry_filter import EntryFilter
from srtk_plugin_index.indexes.exact import ExactIndex
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_qdrant.index import Hnsw, QdrantIndex
from srtk_plugin_qdrant.store import folder

from srtk_framework.testing import ToyEncoder, ToySubgraphEncoder
from srtk_framework.values import DriverError, EntityMention, Entry, Triple

WIDTH, MANY = 17, 90
DATA = Path(os.environ.get("SRTK_DATA", Path(__file__).parents[3] / "../shared/data")) / "pathquestion"


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


@pytest.fixture(params=["folder", "server"])
def over(request, tmp_path):
    """Make drivers over one place: a folder, or a server."""
    if request.param == "folder":
        place = {"path": str(tmp_path / "qdrant")}
    else:
        server = request.getfixturevalue("qdrant")
        place = {"url": server.url, "key": server.key}
    made = []

    def make(**settings):
        encoder = settings.pop("encoder", None) or opened(ToyEncoder(dimensions=WIDTH))
        made.append(QdrantIndex(encoder=encoder, **place, **settings))
        return made[-1]

    yield make
    for one in made:
        one.close()


def drawn(count=MANY, seed=0):
    return np.random.default_rng(seed).normal(size=(count, WIDTH)).astype(np.float32)


def entries_of(rows):
    return [
        Entry(f"{n:05}", f"entry {n}", (Triple(f"s{n % 7}", f"r{n % 3}", f"o{n}"),), row) for n, row in enumerate(rows)
    ]


def texts(count=60):
    return [Entry(f"t{n}", f"text {n} of {n * n}") for n in range(count)]


def filled(index, entries, at_once=100):
    index.create()
    for start in range(0, len(entries), at_once):
        index.add(entries[start : start + at_once])
    index.commit()
    return index


def pairs(found):
    return [[(hit.entry.id, hit.score) for hit in hits] for hits in found]


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_vectors_of_any_length_have_the_hits_of_exact(over, tmp_path, similarity):
    rows = drawn() * np.linspace(0.01, 30, MANY, dtype=np.float32)[:, None]
    rows[7] = 0
    entries, asked = entries_of(rows), np.concatenate([drawn(20, 1), np.zeros((1, WIDTH), np.float32)])
    encoder = opened(ToyEncoder(dimensions=WIDTH))
    exact = filled(ExactIndex(path=str(tmp_path / "exact"), encoder=encoder, similarity=similarity), entries)
    index = filled(over(similarity=similarity), entries)
    assert pairs(index.near(asked, 10)) == pairs(exact.near(asked, 10))
    read = index.entries([entry.id for entry in entries])
    assert all(np.array_equal(one.vector, row) for one, row in zip(read, rows, strict=True))


def test_equal_scores_beyond_what_is_asked_for_first_are_ordered_by_id(over):
    row = drawn(1)[0]
    index = filled(over(), entries_of([row] * 70)[::-1])
    (hits,) = index.near(row[None], 3)
    assert [hit.entry.id for hit in hits] == ["00000", "00001", "00002"]


@pytest.mark.skipif(not DATA.is_dir(), reason="no pathquestion in the data folder; SRTK_DATA names another one")
@pytest.mark.parametrize("exact", [True, False])
def test_the_triples_of_a_real_graph_are_found_as_by_exact(over, tmp_path, exact):
    onnx = pytest.importorskip("srtk_plugin_onnx.encoder")
    encoder = opened(onnx.OnnxEncoder(model="minilm"))
    triples = [line.split("\t") for line in (DATA / "2H-kb.txt").read_text(encoding="utf-8").splitlines()]
    graph = opened(MemoryGraph(triples=sorted({(row[0], row[1], row[2].strip()) for row in triples})[:100]))
    entries = list(opened(TripleCorpus(graph=graph)).read())
    lines = (DATA / "PQ-2H.txt").read_text(encoding="utf-8").splitlines()
    questions = [line.split("\t")[0] for line in lines[:: len(lines) // 40]]
    wanted = filled(ExactIndex(path=str(tmp_path / "exact"), encoder=encoder), entries).search(questions, 10)
    found = filled(over(encoder=encoder, exact=exact), entries).search(questions, 10)
    assert pairs(found) == pairs(wanted)
    assert [hit.entry for hits in found for hit in hits] == [hit.entry for hits in wanted for hit in hits]


@pytest.mark.parametrize(
    ("only", "passes"),
    [
        ({"relations": ["r1"]}, lambda n: n % 3 == 1),
        ({"relations": ["r0", "r1"], "entities": ["s2", "o5"]}, lambda n: n % 3 < 2 and n % 7 == 2),
        ({"ids": ["00012", "00070", "none"]}, lambda n: n in (12, 70)),
        ({"entities": ["nobody"]}, lambda n: False),
        ({"relations": []}, lambda n: False),
    ],
)
def test_only_entries_that_pass_the_filter_are_found(over, only, passes):
    filled(over(), entries_of(drawn())).close()
    index = opened(over(only=EntryFilter(**only)))
    (hits,) = index.near(drawn(1, 1), MANY)
    assert sorted(int(hit.entry.id) for hit in hits) == [n for n in range(MANY) if passes(n)]
    assert index.size() == MANY


def test_a_mention_is_an_entity_of_an_entry(over):
    entries = [Entry("1", "Riga is old", mentions=(EntityMention(0, 4, "Q1773"),)), Entry("2", "Riga is Riga")]
    filled(over(), entries).close()
    (hits,) = opened(over(only=EntryFilter(entities=["Q1773"]))).search(["Riga"], 5)
    assert [hit.entry for hit in hits] == [attrs.evolve(entries[0], vector=hits[0].entry.vector)]


def test_entries_that_were_added_later_give_the_index_of_all_at_once(over):
    entries, asked = entries_of(drawn()), drawn(20, 1)
    whole = filled(over(collection="whole"), entries)
    grown = filled(over(), entries[:45])
    grown.close()
    grown.open()
    grown.add(entries[45:60])
    assert pairs(opened(over()).near(entries[50].vector[None], 1))[0][0][0] != "00050"
    grown.add(entries[60:])
    grown.commit()
    assert grown.fingerprint().rpartition(" of ")[2] == whole.fingerprint().rpartition(" of ")[2]
    again = opened(over())
    assert (again.size(), pairs(again.near(asked, 10))) == (MANY, pairs(whole.near(asked, 10)))


def test_subgraphs_are_encoded_by_their_triples_around_their_centre(over):
    graphs = opened(ToySubgraphEncoder(dimensions=WIDTH))
    entries = [Entry(f"s{n}", "", (Triple(f"s{n}", "r", f"o{n}"), Triple(f"o{n}", "q", f"p{n}"))) for n in range(20)]
    index = filled(over(subgraph_encoder=graphs), entries)
    rows = graphs.encode([entry.triples for entry in entries], [entry.id for entry in entries])
    assert [hits[0].entry.id for hits in index.near(rows, 1)] == [entry.id for entry in entries]
    index.close()
    with pytest.raises(DriverError, match="built with another subgraph encoder"):
        over().open()


# ---------------------------------------------------------------- builds that broke off


def broken(over, entries, most=30):
    index = over(encoder=opened(Counting(dimensions=WIDTH, most=most)))
    with pytest.raises(DriverError, match="broke off"):
        filled(index, entries, 15)
    index.close()


def test_a_build_that_broke_off_is_taken_up_where_it_was(over, caplog):
    broken(over, texts())
    with pytest.raises(DriverError, match=r"its build was broken off, or is not done yet; .* takes up"):
        over(encoder=opened(Counting(dimensions=WIDTH))).open()
    encoder = opened(Counting(dimensions=WIDTH))
    with caplog.at_level(logging.WARNING):
        index = filled(over(encoder=encoder), texts(), 25)
    assert "30 entries of a build of the index srtk at" in caplog.text
    assert encoder.seen == [entry.text for entry in texts()[30:]]
    whole = filled(over(encoder=encoder, collection="whole"), texts())
    asked = [entry.text for entry in texts()[::9]]
    assert pairs(index.search(asked, 10)) == pairs(whole.search(asked, 10))
    assert index.fingerprint().rpartition(" of ")[2] == whole.fingerprint().rpartition(" of ")[2]


def test_a_build_that_is_taken_up_keeps_only_what_is_still_the_same(over):
    broken(over, texts())
    now = [attrs.evolve(entry, text=f"{entry.text}!") for entry in texts()[:5]] + texts()[10:29]
    encoder = opened(Counting(dimensions=WIDTH))
    index = over(encoder=encoder)
    index.create()
    index.add(now[:15])
    left = texts()[25]
    assert left.id not in [hit.entry.id for hit in index.search([left.text], 40)[0]]
    assert index.entries([left.id]) == [None]
    index.add(now[15:])
    assert index.commit() == index.size() == 24
    assert encoder.seen[:5] == [entry.text for entry in now[:5]]
    assert len([text for text in encoder.seen if text in {entry.text for entry in now}]) == 6
    assert [one.text for one in index.entries([entry.id for entry in now])] == [entry.text for entry in now]
    assert index.entries(["t29", "t7"]) == [None, None]


def test_a_build_by_another_encoder_is_not_taken_up(over, caplog):
    broken(over, texts())
    encoder = opened(Counting(dimensions=WIDTH + 1))
    with caplog.at_level(logging.WARNING):
        assert filled(over(encoder=encoder), texts()).size() == len(encoder.seen) == 60
    assert "was broken off; it begins anew" in caplog.text


def test_a_rebuild_that_broke_off_leaves_the_old_index(over):
    counting = opened(Counting(dimensions=WIDTH))
    wanted = pairs(filled(over(encoder=counting), texts(20)).search(["text 7 of 49"], 5))
    broken(over, texts())
    index = opened(over(encoder=counting))
    assert (index.size(), pairs(index.search(["text 7 of 49"], 5))) == (20, wanted)
    index.close()
    assert filled(over(encoder=counting), texts(40)).size() == 40
    assert opened(over(encoder=counting)).size() == 40


def test_a_reader_of_the_old_index_is_told_that_it_was_built_anew(over):
    filled(over(), texts(20)).close()
    reader = opened(over())
    filled(over(), texts(30))
    with pytest.raises(DriverError, match=r"is gone .*open the index again"):
        reader.search(["text 7"], 3)


def test_of_two_builds_the_first_is_refused(over):
    one, other = over(), over()
    one.create()
    one.add(texts(20))
    other.create()
    with pytest.raises(DriverError, match=r"another build of the index srtk at .* has begun"):
        one.add(texts(40)[20:])
    with pytest.raises(DriverError, match=r"another build of the index srtk at .* has begun"):
        one.commit()
    other.add(texts(30))
    assert other.commit() == 30


SCRIPT = """\
import sys
import time

from srtk_framework.testing import ToyEncoder
from srtk_framework.values import Entry
from srtk_plugin_qdrant.index import QdrantIndex

class Slow(ToyEncoder):
    def encode(self, texts):
        time.sleep(float(sys.argv[2]))
        print(len(texts), flush=True)
        return super().encode(texts)

index = QdrantIndex(path=sys.argv[1], encoder=Slow(dimensions=17))
index.create()
for start in range(0, int(sys.argv[3]), 20):
    index.add([Entry(f"t{n}", f"text {n} of {n * n}") for n in range(start, start + 20)])
index.commit()
found = index.search([f"text {n}" for n in range(0, 80, 9)], 10)
print(index.fingerprint().rpartition(" of ")[2])
print([[(hit.entry.id, hit.score) for hit in hits] for hits in found])
index.close()
"""


def points(place, name):
    """Count the points of a collection on disk, beside the process that writes them."""
    path = place / "collection" / name / "storage.sqlite"
    if not path.exists():
        return 0
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30) as base:
        tables = base.execute("select count(*) from sqlite_master where name = 'points'").fetchone()[0]
        count = base.execute("select count(*) from points").fetchone()[0] if tables else 0
    base.close()
    return count


def test_a_build_that_was_killed_is_taken_up(tmp_path):
    def command(place, pause, count):
        return [sys.executable, "-c", SCRIPT, str(tmp_path / place), str(pause), str(count)]

    subprocess.run(command("i", 0, 20), check=True, capture_output=True)
    with subprocess.Popen(command("i", 0.3, 100), stdout=subprocess.DEVNULL) as build:
        while points(tmp_path / "i", "srtk@2") < 30:
            assert build.poll() is None
            time.sleep(0.02)
        build.kill()
    assert build.returncode == -9
    old = QdrantIndex(path=str(tmp_path / "i"), encoder=opened(ToyEncoder(dimensions=WIDTH)))
    # The encoder of the script has another name; what stands is the old index nevertheless.
    with pytest.raises(DriverError, match="another encoder"):
        old.open()
    kept = points(tmp_path / "i", "srtk@2")
    assert points(tmp_path / "i", "srtk@1") == 20
    again = subprocess.run(command("i", 0, 100), capture_output=True, text=True, check=True)
    assert (
        f"{kept} entries of a build of the index srtk at {tmp_path}/i that was broken off are taken up" in again.stderr
    )
    lines = again.stdout.splitlines()
    assert kept >= 30
    assert sum(map(int, lines[:-3])) + kept == 100
    whole = subprocess.run(command("whole", 0, 100), capture_output=True, text=True, check=True)
    assert lines[-2:] == whole.stdout.splitlines()[-2:]
    assert not (tmp_path / "i" / "collection" / "srtk@1").exists()


# ---------------------------------------------------------------- what is refused


def test_an_index_that_was_never_built_is_refused(over):
    with pytest.raises(DriverError, match=r"there is no index srtk at .*: it was never built; .*srtk index build"):
        over().open()


def test_a_collection_of_others_is_neither_read_nor_replaced(over):
    from qdrant_client import models

    index = over()
    index._connect()
    size = models.VectorParams(size=4, distance=models.Distance.COSINE)
    index._store.ask("create_collection", collection_name="srtk", vectors_config=size)
    for act in (index.open, index.create):
        with pytest.raises(DriverError, match="is no index of this framework; choose another `collection:`"):
            act()
    index._connect()
    alias = models.CreateAliasOperation(create_alias=models.CreateAlias(collection_name="srtk", alias_name="other"))
    index._store.ask("update_collection_aliases", change_aliases_operations=[alias])
    other = over(collection="other")
    for act in (other.open, other.create):
        with pytest.raises(DriverError, match="is no index of this framework; choose another `collection:`"):
            act()
    assert index._store.ask("collection_exists", collection_name="srtk")


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"encoder": opened(ToyEncoder(dimensions=WIDTH + 1))}, "encoder"),
        ({"similarity": "dot"}, "similarity"),
        ({"hnsw": Hnsw(m=32)}, "hnsw"),
    ],
)
def test_an_index_of_other_settings_is_refused(over, settings, what):
    filled(over(), texts(10)).close()
    with pytest.raises(DriverError, match=rf"built with another {what} \(.*than the recipe's .*srtk index build"):
        over(**settings).open()
    opened(over(hnsw=Hnsw(ef=500), exact=True))


def test_an_index_of_another_graph_is_refused(over):
    graphs = [opened(MemoryGraph(triples=[("Latvia", "capital", capital)])) for capital in ("Riga", "Tallinn")]
    corpora = [opened(TripleCorpus(graph=graph)) for graph in graphs]
    index = over(corpora=corpora[:1])
    filled(index, list(corpora[0].read())).close()
    assert opened(over(corpora=corpora[:1])).sources() == [graphs[0].source()]
    with pytest.raises(DriverError, match="built with another corpus"):
        over(corpora=corpora[1:]).open()


def test_an_index_that_lost_points_is_refused(over):
    from qdrant_client import models

    index = filled(over(), texts(10))
    one = index._store.ask("scroll", collection_name="srtk", limit=1)[0][0].id
    index._store.ask("delete", collection_name="srtk", points_selector=models.PointIdsList(points=[one]))
    with pytest.raises(DriverError, match="is damaged: it has 9 points, and 10 were committed"):
        over().open()


def test_vectors_of_another_length_are_refused(over):
    index = filled(over(), entries_of(drawn(10)))
    with pytest.raises(DriverError, match="have 17 numbers, those searched for 18"):
        index.near(np.ones((1, 18), np.float32), 3)
    odd = attrs.evolve(entries_of(drawn(11))[10], vector=np.ones(18, np.float32))
    with pytest.raises(DriverError, match=r"the vector of '00010' is no row of 17 finite numbers"):
        index.add([odd])


def test_an_entry_with_half_a_character_is_refused(over):
    index = over()
    index.create()
    with pytest.raises(DriverError, match=r"'half\\ud83d' has half a character"):
        index.add([Entry("half\ud83d", "words")])
    assert index.entries(["half\ud83d"]) == [None]


def test_an_index_stands_in_one_place(tmp_path):
    encoder = ToyEncoder()
    for place in ({}, {"path": "i", "url": "http://localhost"}):
        with pytest.raises(ValueError, match="give one of them"):
            QdrantIndex(encoder=encoder, **place)
    for name in ("a@1", "", "a/b", ".."):
        with pytest.raises(ValueError, match="use letters, digits"):
            QdrantIndex(encoder=encoder, path="i", collection=name)


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    index = QdrantIndex(encoder=opened(ToyEncoder()), path=str(tmp_path))
    with pytest.raises(DriverError, match="holds something that is no folder of Qdrant's"):
        index.create()
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_damaged_folder_is_refused(tmp_path):
    index = filled(QdrantIndex(encoder=opened(ToyEncoder()), path=str(tmp_path / "i")), texts(3))
    index.close()
    (tmp_path / "i" / "meta.json").write_text("{")
    with pytest.raises(DriverError, match=r"cannot be opened by Qdrant's local mode .*build the index again"):
        index.open()


def test_a_folder_that_another_process_uses_is_refused(tmp_path):
    held = folder(str(tmp_path / "i"))
    code = (
        "import sys\nfrom srtk_plugin_qdrant.store import folder\nfrom srtk_framework.values import DriverError\n"
        "try:\n    folder(sys.argv[1])\nexcept DriverError as error:\n    print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code, str(tmp_path / "i")], capture_output=True, text=True, check=True)
    assert "another process uses" in said.stdout
    assert "give the `url:` of a Qdrant server" in said.stdout
    held.close()
    held.close()
    folder(str(tmp_path / "i")).close()

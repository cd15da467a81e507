"""Vectors of both a subgraph and its text."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from kit.kills import tree
from srtk_plugin_index.indexes.vector_journal import RECORDS
from srtk_plugin_septa.fused import FusedCorpus, fused
from srtk_plugin_septa.graph_encoder import SeptaGraphEncoder
from srtk_plugin_septa.subgraphs import SubgraphCorpus

from srtk_framework.testing import ToyEncoder, ToySubgraphEncoder
from srtk_framework.values import DriverError, RunError


def rows(*vectors):
    return np.array(vectors, dtype=np.float32)


vectors = arrays(np.float32, (1, 4), elements=st.floats(-8, 8, width=16).filter(lambda x: x == 0 or abs(x) > 0.01))


def test_the_golden_vector():
    assert fused(rows([3, 4]), rows([0, 2]))[0].tolist() == pytest.approx([0.6, 1.8])


def test_the_nearest_of_three_by_cosine():
    found = np.concatenate([fused(rows([3, 4]), rows([0, 2])), rows([2, 1], [-1, 0])])
    cosines = found @ rows([1, 0])[0] / np.linalg.norm(found, axis=1)
    assert cosines == pytest.approx([0.3162, 0.8944, -1], abs=5e-5)
    assert np.argsort(-cosines).tolist() == [1, 0, 2]


@given(vectors, vectors, st.floats(0.01, 100))
def test_the_length_of_the_subgraph_vector_does_not_count(e, h, scale):
    assert np.allclose(fused(e * np.float32(scale), h), fused(e, h), atol=1e-4)
    assert np.linalg.norm(fused(e, h)) <= np.linalg.norm(h) * (1 + 1e-5)
    assert np.allclose(fused(h * np.float32(scale), h), h, atol=1e-4)


def test_the_text_stands_alone_where_the_subgraph_has_no_direction():
    assert fused(rows([0, 0], [1, 0]), rows([0, 2], [0, 2])).tolist() == [[0, 2], [1, 1]]


def opened(driver):
    driver.open()
    return driver


def test_entries_keep_all_but_their_vector(countries):
    corpus = opened(SubgraphCorpus(graph=countries))
    encoder = opened(ToyEncoder(dimensions=64))
    graphs = opened(SeptaGraphEncoder(graph=countries, encoder=encoder))
    plain = list(corpus.read())
    made = list(FusedCorpus(corpus=corpus, subgraph_encoder=graphs, encoder=encoder).read())
    assert [(e.id, e.text, e.triples) for e in made] == [(e.id, e.text, e.triples) for e in plain]
    e = graphs.encode([one.triples for one in plain], [one.id for one in plain])
    assert np.array_equal(np.stack([one.vector for one in made]), fused(e, encoder.encode([x.text for x in plain])))


def test_what_its_corpus_left_out_is_passed_on(countries, tmp_path):
    corpus = opened(SubgraphCorpus(graph=countries, fan=[1, 1], tokens=4))
    encoder = opened(ToyEncoder(dimensions=64))
    graphs = opened(SeptaGraphEncoder(graph=countries, encoder=encoder))
    wanted = [counts for _, counts in corpus.counted()]
    assert any(counts["drawn"] and counts["unsaid"] for counts in wanted)
    for journal in (None, str(tmp_path / "journal")):
        made = FusedCorpus(corpus=corpus, subgraph_encoder=graphs, encoder=encoder, journal=journal)
        assert [counts for _, counts in made.counted()] == wanted


def test_encoders_of_different_dimensions_are_refused(countries):
    graphs = opened(SeptaGraphEncoder(graph=countries, encoder=opened(ToyEncoder(dimensions=64))))
    driver = FusedCorpus(
        corpus=opened(SubgraphCorpus(graph=countries)),
        subgraph_encoder=graphs,
        encoder=opened(ToyEncoder(dimensions=32)),
    )
    with pytest.raises(DriverError, match="64 dimensions and the encoder 32"):
        list(driver.read())


SCRIPT = """\
import sys
import time

from srtk_framework.testing import ToyEncoder, ToySubgraphEncoder
from srtk_plugin_index.corpora.triples import TripleCorpus
from srtk_plugin_index.indexes.exact import ExactIndex
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_septa import fused

class Slow(ToyEncoder):
    def encode(self, texts):
        time.sleep(float(sys.argv[2]))
        print(len(texts), flush=True)
        return super().encode(texts)

fused._AT_ONCE = 25
graph = MemoryGraph(triples=[(f"s{n % 9}", "r", f"o{n}") for n in range(500)])
graphs, encoder = ToySubgraphEncoder(dimensions=16), Slow(dimensions=16)
for driver in (graph, graphs, encoder):
    driver.open()
corpus = fused.FusedCorpus(
    corpus=TripleCorpus(graph=graph), subgraph_encoder=graphs, encoder=encoder, journal=sys.argv[3] or None
)
index = ExactIndex(path=sys.argv[1], encoder=encoder)
index.create()
for entry in corpus.read():
    index.add([entry])
index.commit()
index.close()
"""


def test_vectors_of_a_build_that_was_killed_are_taken_from_the_journal(tmp_path):
    def command(name, pause, journal):
        return [sys.executable, "-c", SCRIPT, str(tmp_path / name), str(pause), journal]

    journal = tmp_path / "journal"
    with subprocess.Popen(command("index", 0.3, str(journal)), stdout=subprocess.DEVNULL) as build:
        while not (journal / RECORDS).exists() or (journal / RECORDS).stat().st_size < 100 * (16 + 4 * 16 + 4):
            assert build.poll() is None
            time.sleep(0.01)
        build.kill()
    assert build.returncode == -9
    again = subprocess.run(command("index", 0, str(journal)), capture_output=True, text=True, check=True)
    (kept,) = re.findall(r"(\d+) vectors of the corpus fused are in", again.stderr)
    assert int(kept) >= 100
    assert sum(map(int, again.stdout.split())) == 500 - int(kept)
    whole = subprocess.run(command("whole", 0, ""), capture_output=True, text=True, check=True)
    assert sum(map(int, whole.stdout.split())) == 500
    assert tree(tmp_path / "index") == tree(tmp_path / "whole")


def test_a_journal_serves_equal_entries_by_equal_encoders_alone(countries, tmp_path):
    seen: list[str] = []

    @attrs.define(eq=False)
    class Counting(ToyEncoder):
        def encode(self, texts):
            seen.extend(texts)
            return super().encode(texts)

    def read(dimensions):
        encoder = opened(Counting(dimensions=dimensions))
        parts = {
            "corpus": opened(SubgraphCorpus(graph=countries)),
            "subgraph_encoder": opened(ToySubgraphEncoder(dimensions=dimensions)),
            "encoder": encoder,
        }
        plain = [entry.vector for entry in FusedCorpus(**parts).read()]
        seen.clear()
        made = [entry.vector for entry in FusedCorpus(**parts, journal=str(tmp_path / "j")).read()]
        assert np.array_equal(np.stack(made), np.stack(plain))
        return len(seen), FusedCorpus(**parts, journal="j").fingerprint() == FusedCorpus(**parts).fingerprint()

    first, same = read(16)
    assert first > 0
    assert same
    assert read(16)[0] == 0
    assert read(32)[0] == first


def test_a_journal_that_another_build_uses_is_refused(countries, tmp_path):
    parts = {
        "corpus": opened(SubgraphCorpus(graph=countries)),
        "subgraph_encoder": opened(ToySubgraphEncoder(dimensions=16)),
        "encoder": opened(ToyEncoder(dimensions=16)),
    }
    corpus = FusedCorpus(**parts, journal=str(tmp_path / "j"))
    one = corpus.read()
    next(one)
    with pytest.raises(RunError, match="give each corpus a `journal:` of its own"):
        next(corpus.read())
    one.close()
    assert next(corpus.read()).vector is not None

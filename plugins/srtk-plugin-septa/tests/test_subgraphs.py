"""Samples of graphs, and their words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_septa.sampler import Sampler
from srtk_plugin_septa.subgraphs import SubgraphCorpus
from srtk_plugin_septa.wording import Wording, read_templates

from srtk_framework.cli import main
from srtk_framework.values import DriverError, InputError, Literal, SettingsError, Triple


def graph(facts) -> MemoryGraph:
    made = MemoryGraph(triples=facts)
    made.open()
    return made


def corpus(of, **changes) -> SubgraphCorpus:
    made = SubgraphCorpus(graph=of, **changes)
    made.open()
    return made


facts_of = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("rs"), st.sampled_from("abcdefgh")), min_size=1, max_size=30
)


def ends_of(triple, inverse):
    return [(triple.subject, triple.object), *([(triple.object, triple.subject)] if inverse else [])]


@given(facts_of, st.booleans(), st.integers(1, 3), st.integers(1, 3), st.integers(0, 3))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_sample_is_a_connected_part_of_the_graph_within_its_fan_out(facts, inverse, first, second, seed):
    stored = {Triple(*fact) for fact in facts}
    centres = sorted({end for fact in facts for end in (fact[0], fact[2])})
    for sample in Sampler(graph(facts), [first, second], inverse, seed=seed).samples(centres):
        assert sample.hops[sample.centre] == 0
        # All triples between the nodes, and no others.
        assert set(sample.triples) == {t for t in stored if t.subject in sample.hops and t.object in sample.hops}
        assert len(set(sample.triples)) == len(sample.triples)
        near = {pair for triple in stored for pair in ends_of(triple, inverse)}
        for node, hop in sample.hops.items():
            assert hop == 0 or any((one, node) in near for one, at in sample.hops.items() if at == hop - 1)
        assert sum(hop == 1 for hop in sample.hops.values()) <= first
        assert sum(hop == 2 for hop in sample.hops.values()) <= second * sum(hop == 1 for hop in sample.hops.values())


@given(facts_of, st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_sample_without_limits_is_the_whole_ball(facts, inverse):
    stored = {Triple(*fact) for fact in facts}
    for sample in Sampler(graph(facts), [99, 99], inverse).samples(sorted({fact[0] for fact in facts})):
        ball = {sample.centre}
        for _ in range(2):
            ball |= {end for triple in stored for start, end in ends_of(triple, inverse) if start in ball}
        assert set(sample.hops) == ball
        assert sample.drawn == 0


STAR = [("hub", "has", f"leaf{number:03}") for number in range(40)] + [("leaf003", "near", "leaf004")]


def test_one_seed_gives_the_same_bytes_whatever_the_batch_and_another_seed_gives_others():
    once = list(corpus(graph(STAR), seed=7).read())
    assert list(corpus(graph(STAR), seed=7, batch=1).read()) == once
    few = corpus(graph(STAR), seed=7, centres=["leaf011", "hub"])
    assert list(few.read()) == [next(e for e in once if e.id == id_) for id_ in ("leaf011", "hub")]
    assert list(corpus(graph(STAR), seed=8).read()) != once


def test_limits_are_counted():
    (_, counts), *_ = corpus(graph(STAR), centres=["hub"], fan=[3, 1]).counted()
    assert counts == {"drawn": 1, "hubs": 0, "unsaid": 0}
    (entry, counts), *_ = corpus(graph(STAR), centres=["hub"], hops=1, fan=[100], hub=5, tokens=8).counted()
    assert len(entry.triples) == 6  # five of hub, and the one between two leaves
    assert counts == {"drawn": 0, "hubs": 1, "unsaid": 6 - len(entry.text.split(". ")[1:])}
    assert counts["unsaid"] > 0


RECIPE = """\
srtk: 1
knowledge_graph: {use: local, path: g, build: {files: [t.tsv]}}
corpus: {use: subgraphs, hops: 1, fan: [3], centres: [hub, leaf003]}
index: {use: bm25, path: i}
"""


def test_a_build_says_what_the_limits_left_out_and_the_manifest_keeps_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("t.tsv").write_text("".join("\t".join(fact) + "\n" for fact in STAR))
    Path("r.yaml").write_text(RECIPE)
    assert main(["index", "build", "r.yaml", "--quiet"]) == 0
    assert (
        capsys.readouterr().out == "i: 2 entries\ni: left out by the limits of subgraphs: drawn 1, hubs 0, unsaid 0\n"
    )
    before = Path("i/manifest.json").read_bytes()
    assert json.loads(before)["left_out"] == [{"drawn": 1, "hubs": 0, "unsaid": 0}]
    assert main(["index", "build", "r.yaml", "--quiet"]) == 0
    assert Path("i/manifest.json").read_bytes() == before
    Path("r.yaml").write_text(RECIPE.replace("subgraphs, hops: 1, fan: [3], centres: [hub, leaf003]", "triples"))
    assert main(["index", "build", "r.yaml", "--quiet"]) == 0
    assert "left_out" not in json.loads(Path("i/manifest.json").read_text())


def test_a_centre_that_is_no_node_is_named():
    with pytest.raises(DriverError, match="the centre 'nobody' is no node of"):
        list(corpus(graph(STAR), centres=["hub", "nobody"]).read())


def test_an_entity_that_has_triples_with_itself_alone_is_a_centre_too():
    looped = graph([("a", "r", "a"), ("b", "r", "c")])
    assert [entry.text for entry in corpus(looped).read()] == ["a. a r a", "b. b r c", "c. b r c"]


def test_a_centre_with_literals_alone_gives_no_entry():
    alone = graph([("a", "born", Literal('"1998"')), ("b", "knows", "c")])
    assert [entry.id for entry in corpus(alone, centres=["a", "b"]).read()] == ["b"]
    assert [entry.id for entry in corpus(alone).read()] == ["b", "c"]


@pytest.mark.parametrize(
    ("fan", "fault"),
    [([10], "one number for each hop"), ([1, 2, 3], "one number for each hop"), ([10, 0], "fan.1. must be at least 1")],
)
def test_a_fan_for_other_hops_is_refused(fan, fault):
    with pytest.raises(SettingsError, match=fault):
        corpus(graph(STAR), fan=fan)


def test_the_text_has_a_clause_for_each_triple_the_nearest_to_the_centre_first(countries):
    (entry,) = corpus(countries, centres=["ann"], fan=[10, 1], named=False).read()
    clauses = entry.text.split(". ")
    assert len(clauses) == len(entry.triples)
    assert clauses[:2] == ["Ann born In Riga", "Ann works In Tallinn"]
    assert all("Ann" not in clause for clause in clauses[2:])


def test_the_text_begins_with_the_name_of_its_centre_within_its_tokens(countries):
    entries = {entry.id: entry for entry in corpus(countries, fan=[10, 9]).read()}
    assert all(entry.text.startswith(f"{id_.title()}. ") for id_, entry in entries.items())
    (short,) = corpus(countries, centres=["ann"], tokens=8).read()
    assert short.text == "Ann. Ann born In Riga"
    (plain,) = corpus(countries, centres=["ann"], tokens=8, named=False).read()
    assert plain.text == "Ann born In Riga. Ann works In Tallinn"


def test_neighbours_with_the_same_triples_have_other_texts_by_their_names():
    pair = graph([("a", "r", "b")])
    assert [entry.text for entry in corpus(pair).read()] == ["a. a r b", "b. a r b"]
    assert [entry.text for entry in corpus(pair, named=False).read()] == ["a r b", "a r b"]


def test_templates_word_relations(countries, tmp_path):
    file = tmp_path / "templates.tsv"
    file.write_text(
        "bornIn\t[X] was born in [Y] .\nworksIn\tis employed in\ncapitalOf\t{object} is ruled from {subject}\n"
    )
    (entry,) = corpus(countries, centres=["ann"], hops=1, fan=[9], templates=str(file)).read()
    assert entry.text == "Ann. Ann was born in Riga. Ann is employed in Tallinn"
    (other,) = corpus(countries, centres=["latvia"], hops=1, fan=[9], templates=str(file)).read()
    assert "Latvia is ruled from Riga" in other.text


def test_a_label_that_looks_like_a_gap_stays_as_it_is(tmp_path):
    file = tmp_path / "templates.tsv"
    file.write_text("r\t[X] likes [Y]\n")
    (entry, _) = corpus(graph([("[Y]", "r", "{subject}")]), templates=str(file)).read()
    assert entry.text == "[Y]. [Y] likes {subject}"


@pytest.mark.parametrize(("line", "fault"), [("r\t[X] .", "no words"), ("r\t[X] likes", "one end"), ("r", "tab")])
def test_a_template_that_words_nothing_is_refused(tmp_path, line, fault):
    file = tmp_path / "templates.tsv"
    file.write_text(f"q\tlikes\n{line}\n")
    with pytest.raises(InputError, match=rf":2: .*{fault}"):
        read_templates(file)


def test_the_fingerprint_knows_the_settings_and_the_templates(countries, tmp_path):
    plain = corpus(countries).fingerprint()
    file = tmp_path / "templates.tsv"
    file.write_text("bornIn\tis from\n")
    one = corpus(countries, templates=str(file)).fingerprint()
    file.write_text("bornIn\tcomes from\n")
    other = corpus(countries, templates=str(file)).fingerprint()
    assert len({plain, one, other, corpus(countries, seed=1).fingerprint()}) == 4
    assert corpus(countries, named=False).fingerprint() != plain
    assert corpus(countries, batch=1).fingerprint() == plain


def test_the_triples_of_a_sample_come_by_their_nearer_end_then_by_the_other():
    # From a along the edges: b and d are one hop away, c two, and the last leads back.
    facts = [("b", "r", "d"), ("a", "r", "b"), ("a", "r", "d"), ("b", "r", "c"), ("c", "r", "a")]
    [sample] = Sampler(graph(facts), [9, 9], False).samples(["a"])
    assert ["".join(triple) for triple in sample.triples] == ["arb", "ard", "cra", "brd", "brc"]


def test_each_node_with_more_neighbours_than_are_read_counts():
    facts = [("a", "r", f"b{n}") for n in range(3)] + [("b0", "r", f"c{n}") for n in range(3)]
    [sample] = Sampler(graph(facts), [2, 2], False, hub=2).samples(["a"])
    assert sample.hubs == 2


def test_triples_are_forgotten_when_more_are_kept_than_may_be_and_the_samples_are_the_same(monkeypatch):
    facts = [("a", "r", "b"), ("b", "r", "c"), ("c", "r", "d")]
    sampler = Sampler(graph(facts), [9, 9])
    wanted = sampler.samples(["a", "d"])
    kept = sampler._kept  # one of a, two of b and c each, one of d
    assert (kept, len(sampler._known)) == (6, 4)
    for most, left in ((kept, 4), (kept - 1, 0)):
        monkeypatch.setattr("srtk_plugin_septa.sampler._MOST_KEPT", most)
        again = Sampler(graph(facts), [9, 9])
        assert again.samples(["a", "d"]) == wanted
        assert (len(again._known), again._kept) == (left, kept if left else 0)


def test_a_node_with_just_as_many_neighbours_as_are_read_is_no_hub_and_one_with_more_has_the_first_by_id():
    facts = [("a", "r", f"b{n}") for n in range(3)]
    [whole] = Sampler(graph(facts), [9], hub=3).samples(["a"])
    [cut] = Sampler(graph(facts), [9], hub=2).samples(["a"])
    assert (whole.hubs, len(whole.triples)) == (0, 3)
    assert (cut.hubs, [triple.object for triple in cut.triples]) == (1, ["b0", "b1"])
    [drawn] = Sampler(graph(facts), [3]).samples(["a"])
    assert drawn.drawn == 0


@pytest.mark.parametrize("seed", range(5))
def test_as_many_neighbours_are_drawn_as_the_fan_out_allows(seed):
    [sample] = Sampler(graph(STAR), [20], seed=seed).samples(["hub"])
    assert len(sample.hops) == 21
    assert sample.drawn == 1


@pytest.mark.parametrize(
    ("tokens", "named", "plain"),
    [
        (7, ("a. a r b. a r c", 2), ("a r b. a r c", 2)),
        (6, ("a. a r b", 1), ("a r b. a r c", 2)),
        (5, ("a. a r b", 1), ("a r b", 1)),
        (1, ("a. a r b", 1), ("a r b", 1)),
    ],
)
def test_clauses_are_taken_while_they_fit_and_the_first_in_any_case(tokens, named, plain):
    wording = Wording(graph([("a", "r", "b")]), tokens=tokens, count=lambda text: len(text.split()))
    triples = [Triple("a", "r", "b"), Triple("a", "r", "c")]
    assert wording.texts([triples], ["a"]) == [named]
    assert wording.texts([triples]) == [plain]
    assert wording.texts([[]], ["a"]) == [("a", 0)]
    assert wording.texts([]) == []

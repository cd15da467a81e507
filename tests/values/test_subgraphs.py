from __future__ import annotations

from srtk_framework.values import Answer, FoundPaths, RankedPath, Step, Subgraph, Triple

TRIPLES = tuple(Triple("riga", "twin_of", town) for town in ("oslo", "perm", "kyiv", "turku"))
PATH = RankedPath("riga", (Step("twin_of"),), 1.0)


def subgraph(**more) -> Subgraph:
    return Subgraph(
        TRIPLES,
        (0.4, 0.3, 0.2, 0.1),
        (PATH,),
        (0, 0, 0, -1),
        ("a", "b", "c", "d"),
        ((), (("since", "1"),), (), ()),
        **more,
    )


def test_the_first_triples_keep_their_scores_paths_sources_and_qualifiers():
    first = subgraph().first(2)
    assert first.triples == TRIPLES[:2]
    assert (first.scores, first.path_of, first.provenance) == ((0.4, 0.3), (0, 0), ("a", "b"))
    assert first.qualifiers == ((), (("since", "1"),))
    assert first.paths == (PATH,)


def test_dropped_triples_are_added_to_those_a_limit_cut_before():
    before = subgraph(trace={"hops": 2, "cut": {"hub": 7, "tokens": 1}})
    assert before.first(3, "tokens").trace == {"hops": 2, "cut": {"hub": 7, "tokens": 2}}
    assert before.trace["cut"] == {"hub": 7, "tokens": 1}


def test_a_subgraph_within_the_count_is_returned_unchanged():
    whole = subgraph()
    assert whole.first(4) is whole


def test_an_answer_loses_the_support_that_is_cut():
    kept = subgraph(answer=Answer("Oslo and Turku", support=(0, 3))).first(2).answer
    assert kept == Answer("Oslo and Turku", support=(0,))


def test_the_support_of_an_answer_follows_reordered_triples():
    moved = Answer("Oslo", support=(0, 1)).moved(TRIPLES, (TRIPLES[1], TRIPLES[2], TRIPLES[0]))
    assert moved.support == (0, 2)


def test_support_that_is_gone_is_dropped():
    assert Answer("Oslo", support=(0, 2)).moved(TRIPLES, [TRIPLES[2]]).support == (0,)


def test_a_subgraph_without_an_answer_is_cut_to_one_without():
    assert subgraph().first(1).answer is None


def test_equal_triples_support_an_answer_once():
    moved = Answer("Oslo", support=(0, 1)).moved((TRIPLES[0], TRIPLES[0]), (TRIPLES[1], TRIPLES[0]))
    assert moved.support == (1,)


def test_found_paths_are_a_sequence_of_their_paths():
    paths = ((Step("twin_of"),), (Step("capital_of"), Step("currency")))
    found = FoundPaths(paths, {"hub": 2})
    assert (len(found), found[0], found[:1], list(found)) == (2, paths[0], paths[:1], list(paths))

"""Mediators are noticed by their place in the graph, told once and kept; what only looks a little like them is not."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from srtk_plugin_local.commands.info import describe
from srtk_plugin_local.snapshot import mediators
from srtk_plugin_local.snapshot.build import Built, build, update
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.csr import RUN, Adjacency, Starts
from srtk_plugin_local.snapshot.mediators import Noticed, notice

Rows = list[tuple[str, str, str]]
Edges = list[tuple[str, int, str]]
STATEMENT = "http://www.wikidata.org/entity/statement/"


def employments(name: str, count: int = 4) -> Rows:
    """Return people with an employment each; ``name`` has a place for the number of its node."""
    return [
        row
        for n in range(count)
        for row in (
            (f"p{n}", "employment", name.format(n)),
            (name.format(n), "employer", f"f{n % 2}"),
            (name.format(n), "role", "j1"),
            (f"p{n}", "home", "t1"),
        )
    ]


def built(folder: Path, rows: Rows, bare: Iterable[str] = ("s", "x"), **settings: Any) -> Built:
    """Build a graph in which every node has a label but those whose ids begin as ``bare`` says."""
    file, labels = folder / "a.tsv", folder / "labels.tsv"
    file.write_text("".join("\t".join(row) + "\n" for row in rows))
    nodes = {end for s, _, o in rows for end in (s, o) if not end.startswith((*bare, '"'))}
    labels.write_text("".join(f"{id_}\tName of {id_}\n" for id_ in sorted(nodes)))
    given = {"labels": (str(labels),), "header": False, **settings}
    return build(BuildSettings(files=(str(file),), **given), folder / "out")


def noticed(folder: Path, rows: Rows, **settings: Any) -> Any:
    return built(folder, rows, **settings).meta.build.get("mediators")


def test_nodes_that_only_hold_facts_together_are_noticed_told_and_kept(tmp_path: Path) -> None:
    done = built(tmp_path, employments("s{}"))
    assert done.meta.build["mediators"] == {
        "nodes": 4,
        "patterns": ["s*"],
        "relations": ["employment"],
        "example": "s2",
        "vocabulary": "",
    }
    assert describe(done.folder, 0, False)["mediators"]["nodes"] == 4
    [note] = done.meta.build["reading"][0]["notes"]
    assert note == (
        "4 nodes without a name, such as s2, only hold a fact together (mediators, behind employment); as one step:"
        " knowledge_graph: {use: mediated, graph: {use: local, …}} in a recipe, --set knowledge_graph.mediated=true in"
        " srtk ask"
    )


@pytest.mark.parametrize(
    ("name", "patterns", "vocabulary"),
    [
        ("m.0{}k_b", ["g.*", "m.*"], "Freebase"),
        ("/g/11{}k", ["/g/*", "/m/*"], "Freebase"),
        (STATEMENT + "Q{}-3F2504E0-4F89-11D3-9A0C-0305E82C3301", [STATEMENT + "*"], "Wikidata"),
        ("{}f2504e0-4f89-11d3-9a0c-0305e82c3301", ["*"], ""),
    ],
)
def test_ids_that_are_no_names_are_known_where_ids_are_names(
    tmp_path: Path, name: str, patterns: list[str], vocabulary: str
) -> None:
    found = noticed(tmp_path, employments(name), labels=())
    assert (found["nodes"], found["patterns"], found["vocabulary"]) == (4, patterns, vocabulary)


def test_statements_of_wikidata_are_known_under_a_prefix(tmp_path: Path) -> None:
    rows = employments(STATEMENT + "Q{}-3F2504E0-4F89-11D3-9A0C-0305E82C3301")
    found = noticed(tmp_path, rows, bare=("http",), prefixes={"": "http://www.wikidata.org/entity/"})
    assert (found["patterns"], found["vocabulary"]) == (["statement/*"], "Wikidata")


def test_a_known_id_says_what_a_node_with_two_ends_is(tmp_path: Path) -> None:
    rows = [row for row in employments("m.0{}k") if row[1] != "role"]
    assert noticed(tmp_path, rows, labels=())["vocabulary"] == "Freebase"


def test_ids_that_are_names_are_no_mediators(tmp_path: Path) -> None:
    assert noticed(tmp_path, employments("s{}"), labels=()) is None


CITIES = [(f"x{n}", "lies in", "c1") for n in range(4)] + [(f"x{n}", "twin", "t1") for n in range(4)]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (employments("s{}", 2), "there are only two"),
        ([*CITIES, *((f"p{k}{n}", "home", f"x{n}") for n in range(4) for k in range(6))], "many live in each"),
        ([(f"x{n}", r, o) for n in range(4) for r, o in (("lies in", "c1"), ("twin", "t1"))], "nothing leads to them"),
        (
            [row for n in range(4) for row in ((f"p{n}", "friend", f"x{n}"), (f"x{n}", "age", f'"{n}"'))]
            + [(f"x{n}", "mail", f'"{n}@a"') for n in range(4)],
            "they have values only",
        ),
        (
            [(f"p{n}", "home", f"t{n}") for n in range(40)]
            + [
                row
                for n in range(4)
                for row in ((f"p{n}", "home", f"x{n}"), (f"x{n}", "in", "c"), (f"x{n}", "at", "r"))
            ],
            "few of the relation's objects have no label",
        ),
        (
            [row for n in range(4) for row in ((f"x9{n}", "has", f"x{n}"), (f"x{n}", "of", "c"), (f"x{n}", "at", "d"))],
            "what leads to them has no name either",
        ),
        (
            [*employments("x{}", 6), *((f"p{n}", "employment", f"t{n}") for n in range(4))],
            "four of ten objects of the relation have a label",
        ),
        (
            [*employments("x{}"), *((f"p{n}", "employment", f"x5{n}") for n in range(6))],
            "most objects of the relation lead nowhere",
        ),
        (
            [
                row
                for n in range(4)
                for row in ((f"p{n}", "via", f"x{n}"), (f"x{n}", "to", f"x8{n}"), (f"x{n}", "age", f'"{n}"'))
            ],
            "nothing that they lead to has a name",
        ),
        ([row for n in range(4) for row in ((f"p{n}", "via", f"x{n}"), (f"x{n}", "to", "c"))], "they hold two things"),
        (
            employments("x{}")
            + [(f"y{k}{n}", "at", f"x5{n}") for n in range(9) for k in range(6)]
            + [(f"x5{n}", "in", "c1") for n in range(9)],
            "most nodes that are called alike are no mediators",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_looks_only_a_little_like_mediators_is_not_noticed(tmp_path: Path, rows: Rows, why: str) -> None:
    assert noticed(tmp_path, rows, literals="quoted") is None, why


@pytest.mark.parametrize(
    "edges",
    [
        (("p{}", "has", "s{}"), ("s{}", "type", "c1"), ("s{}", "size", '"{}"')),
        (("p{}", "has", "s{}"), ("s{}", "type", "c1"), ("s{}", "size", "x{}")),
        (("p{}", "type", "s{}"), ("s{}", "part of", "c1"), ("s{}", "size", "c2")),
    ],
)
def test_a_class_is_no_part_of_a_fact(tmp_path: Path, edges: Rows) -> None:
    rows = [(s.format(n), r, o.format(n)) for n in range(4) for s, r, o in edges]
    assert noticed(tmp_path, rows, literals="quoted", type_relations=("type",)) is None
    assert noticed(tmp_path, rows, literals="quoted", type_relations=("none",)) is not None


def test_nodes_that_lead_nowhere_do_not_count_among_those_that_are_called_alike(tmp_path: Path) -> None:
    rows = [*employments("s{}"), *((f"p{n}", "image", f"s5{n}") for n in range(9))]
    assert noticed(tmp_path, rows)["nodes"] == 4


def test_a_graph_without_any_name_has_none(tmp_path: Path) -> None:
    assert noticed(tmp_path, employments("s{}"), labels=(), names=False) is None


def test_mediators_that_are_given_are_not_looked_for(tmp_path: Path) -> None:
    assert noticed(tmp_path, employments("s{}"), mediators=("s*",)) is None


def test_rows_of_tables_are_things_and_no_mediators(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,name,visit\n" + "".join(f"{n},Person {n},v{n}\n" for n in range(5)))
    (tmp_path / "visits.csv").write_text("id,doctor,ward\n" + "".join(f"v{n},Dr {n % 2},Ward 1\n" for n in range(5)))
    files = tuple(str(tmp_path / name) for name in ("people.csv", "visits.csv"))
    done = build(BuildSettings(files=files), tmp_path / "out")
    assert "mediators" not in done.meta.build


def test_an_update_keeps_the_mediators_and_says_so_once(tmp_path: Path) -> None:
    done = built(tmp_path, employments("s{}"))
    first = done.meta.build["reading"][0]["notes"]
    for n in range(2):
        more = tmp_path / f"more{n}.tsv"
        more.write_text(f"p{n}\tknows\tp3\n")
        changed = update(done.folder, {"files": (str(more),)}, ())
    assert changed.meta.build["mediators"] == done.meta.build["mediators"]
    kept = "an update keeps these mediators and looks for no others; build the graph again to look"
    assert changed.meta.build["reading"][0]["notes"] == [*first, kept]
    assert str(changed.meta.build["reading"]).count(kept) == 1


def test_an_update_of_a_graph_without_mediators_says_nothing_of_them(tmp_path: Path) -> None:
    done = built(tmp_path, [("a", "r", "b"), ("b", "r", "c")])
    more = tmp_path / "more.tsv"
    more.write_text("c\tr\ta\n")
    assert "mediators" not in str(update(done.folder, {"files": (str(more),)}, ()).meta.build["reading"])


def test_the_pattern_is_of_the_letters_with_which_all_ids_begin(tmp_path: Path) -> None:
    rows = [(s.replace("sb0", "sa0"), r, o.replace("sb0", "sa0")) for s, r, o in employments("sb{}")]
    assert noticed(tmp_path, rows)["patterns"] == ["s*"]


def test_nodes_that_begin_with_the_first_letter_of_the_pattern_alone_are_not_called_alike(tmp_path: Path) -> None:
    homes = [(f"y{k}{n}", "at", f"xt{n}") for n in range(9) for k in range(6)]
    found = noticed(tmp_path, [*employments("xs{}"), *homes, *((f"xt{n}", "in", "c1") for n in range(9))])
    assert (found["nodes"], found["patterns"]) == (4, ["xs*"])


def adjacency(size: int, edges: list[tuple[int, int, int]]) -> Adjacency:
    """Return a direction of the edges of few nodes: from, relation, to."""
    edges = sorted(edges)
    assert len(edges) < RUN
    groups = sorted({edge[:2] for edge in edges})
    starts = [sum(edge[:2] < group for edge in edges) for group in groups] + [len(edges)]
    return Adjacency(
        np.array([sum(group[0] < node for group in groups) for node in range(size + 1)], dtype=np.uint64),
        np.array([group[1] for group in groups], dtype=np.uint16),
        Starts(np.array(starts, dtype=np.uint8), np.empty(0, dtype=np.int64)),
        np.array([edge[2] for edge in edges], dtype=np.uint32),
    )


def of_edges(edges: Edges, relations: str = "rst", types: str = "") -> Noticed | None:
    """Notice the mediators of edges; nodes that begin with x have no name, and the others in quotes are literals."""
    ids = sorted({end for s, _, o in edges for end in (s, o)})
    numbered = [(ids.index(s), r, ids.index(o)) for s, r, o in edges]
    return notice(
        adjacency(len(ids), numbered),
        adjacency(len(ids), [(o, r, s) for s, r, o in numbered]),
        np.array([id_.startswith("x") for id_ in ids]),
        np.array([id_.startswith('"') for id_ in ids])
        if any(id_.startswith('"') for id_ in ids)
        else np.empty(0, bool),
        list(relations),
        list(types),
        lambda places: [ids[place] for place in places.tolist()],
    )


def facts_of(name: str, leading: int = 1, ends: int = 2) -> Edges:
    """Return a mediator with some nodes that lead to it, and some that it leads to."""
    into = [(f"p{n}{name}", 0, name) for n in range(leading)]
    return into + [(name, 1, f"q{n}") for n in range(ends)]


def several(count: int, leading: int = 1, ends: int = 2) -> Edges:
    return [edge for n in range(count) for edge in facts_of(f"x{n}", leading, ends)]


@pytest.mark.parametrize("block", [1, 2, 5, 1_000_000])
def test_the_blocks_in_which_nodes_are_read_make_no_difference(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mediators, "_BLOCK", block)
    edges = [*several(4), ("a", 1, "b"), ("b", 2, '"1"'), ("x0", 2, '"2"'), ("y", 1, "a")]
    assert of_edges(edges) == Noticed(4, ("x*",), ("r",), "x2")


def beside(count: int) -> Edges:
    """Return nodes that are called alike and are no mediators, for what leads to them has no name."""
    return [edge for n in range(60, 60 + 2 * count, 2) for edge in ((f"x{n}", 2, f"x{n + 1}"), (f"x{n + 1}", 2, "q0"))]


def two_ends(count: int) -> Edges:
    return [edge for n in range(count) for edge in facts_of(f"x8{n}", ends=1)]


@pytest.mark.parametrize(
    ("edges", "nodes"),
    [
        (several(3), 3),
        (several(2), None),
        (several(3, leading=5), 3),  # the most edges that lead to a mediator
        (several(3, leading=6), None),
        ([*several(3), ("a", 0, "b")], None),  # nine of ten objects have no name, at least
        ([*several(9), ("a", 0, "b")], 9),
        ([*several(8), ("a", 0, "b")], None),
        ([*several(3), *(("a", 0, f"x9{n}") for n in range(3))], 3),  # half of the objects fit
        ([*several(3), *(("a", 0, f"x9{n}") for n in range(4))], None),
        (two_ends(3), None),  # two ends are no fact, unless half have three
        ([*several(2), *two_ends(2)], 4),
        ([*several(2), *two_ends(3)], None),
        ([*several(3), *beside(3)], 3),  # half of those that are called alike
        ([*several(3), *beside(4)], None),
        ([*several(3), ("x9", 0, "x0")], None),  # a node without a name leads to one of the three
        ([edge for edge in several(3) if edge[0] != "x0"], None),
        ([("x1", 0, "x2"), ("x2", 0, "x3")], None),
    ],
    ids=str,
)
def test_each_rule_holds_at_its_bound(edges: Edges, nodes: int | None) -> None:
    found = of_edges(edges)
    assert (found and found.nodes) == nodes


def test_a_relation_without_an_edge_leads_to_no_mediator() -> None:
    found = of_edges(several(3), relations="rstu")
    assert found is not None
    assert found.relations == ("r",)


def test_relations_come_by_the_number_of_mediators_behind_them() -> None:
    edges = [*several(5), *((f"p{n}", 2, f"x{n}") for n in range(4))]
    found = of_edges(edges)
    assert found is not None
    assert found.relations == ("r", "t")
    found = of_edges([(s, {0: 2, 1: 1, 2: 0}[r], o) for s, r, o in edges])
    assert found is not None
    assert found.relations == ("t", "r")


def test_a_relation_to_classes_leads_to_no_mediator_and_is_no_part_of_a_fact() -> None:
    assert of_edges(several(3), types="r") is None
    assert of_edges(several(3), types="s") is None
    assert of_edges(several(3), types="t") is not None


@pytest.mark.parametrize(
    ("relations", "more"),
    [(("r",), "behind r)"), (("r", "s"), "behind r and 1 other relation)"), ("rst", "behind r and 2 other relations)")],
)
def test_the_sentence_counts_the_other_relations(relations: tuple[str, ...], more: str) -> None:
    told = Noticed(1234, ("x*",), tuple(relations), "x1").told()
    assert told.startswith("1,234 nodes without a name, such as x1, ")
    assert more in told
    assert "default" not in told
    assert "whose default it is for Freebase's in files" in Noticed(3, ("m.*",), ("r",), "m.01", "Freebase").told()


@pytest.mark.parametrize(
    ("ids", "pattern"),
    [
        (["a1", "a2"], "a*"),
        (["ab12", "ab13"], "ab*"),
        (["ab", "ab"], "ab*"),
        (["ab", "abc"], "ab*"),
        (["a[1", "a[2"], "a*"),
        (["1a", "2a"], "*"),
        (["n-1_2", "n-1_3"], "n*"),
    ],
)
def test_the_pattern_is_what_the_first_and_the_last_id_begin_with_but_digits(ids: list[str], pattern: str) -> None:
    assert mediators._patterns(ids) == ("", (pattern,))


def test_ids_with_a_start_are_counted_among_sorted_ones() -> None:
    ids = ["a", "ab", "abc", "abd", "b"]
    counts = [
        mediators._number(lambda some: [ids[n] for n in some.tolist()], np.arange(5), start)
        for start in ("", "a", "ab", "abd", "b", "c")
    ]
    assert counts == [5, 4, 3, 1, 1, 0]


def test_runs_are_summed_by_their_offsets() -> None:
    assert mediators._sums(np.array([1, 2, 3]), np.array([0, 0, 2, 3])).tolist() == [0, 3, 3]

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from srtk_framework.graph.path_facts import finish
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.sample import Sample
from srtk_framework.text.folding import count_tokens
from srtk_framework.text.verbalise import (
    Templates,
    fit,
    path_text,
    step_text,
    subgraph_tokens,
    triple_text,
    within_tokens,
)
from srtk_framework.values import END, Budget, InputError, Join, Literal, RankedPath, Step, Subgraph, Triple

LABELS = {"Q1": "Riga", "Q2": "Latvia", "P1": "capital", "P2": "population"}
NAMES = st.text(min_size=1, max_size=12)


@st.composite
def subgraphs(draw):
    triples = tuple(draw(st.lists(st.builds(Triple, NAMES, NAMES, NAMES), max_size=40, unique=True)))
    paths = tuple(RankedPath("Q1", (Step(name),), 0.5) for name in draw(st.lists(NAMES, min_size=1, max_size=3)))
    path_of = tuple(draw(st.integers(-1, len(paths) - 1)) for _ in triples)
    return Subgraph(triples=triples, scores=(0.5,) * len(triples), paths=paths, path_of=path_of)


def test_a_step_shows_its_label_and_direction():
    assert step_text(Step("P1"), LABELS) == "capital"
    assert step_text(Step("P1", inverse=True), LABELS) == "is capital of"
    assert step_text(END, LABELS) == "end"


def test_a_ranked_path_begins_with_its_entity():
    steps = (Step("P1", True), Step("P2"))
    assert path_text(steps, LABELS) == "is capital of → population"
    assert path_text(RankedPath("Q1", steps, 1.0), LABELS) == "Riga → is capital of → population"
    assert path_text(RankedPath("Q1", (), 1.0), LABELS) == "Riga"


def test_a_triple_shows_labels_ids_and_lexical_forms():
    year = Literal.make("1201", "http://www.w3.org/2001/XMLSchema#gYear")
    assert triple_text(Triple("Q1", "founded", year), LABELS) == "Riga | founded | 1201"


def test_qualifiers_follow_their_triple():
    triple = Triple("Q2", "P1", "Q1")
    text = triple_text(triple, LABELS, qualifiers=(("since", Literal('"1918"')), ("P2", "Q1")))
    assert text == "Latvia | capital | Riga (since: 1918; population: Riga)"


def test_an_empty_label_is_replaced_by_the_id():
    assert triple_text(Triple("a", "r", "b"), {"a": " \n", "r": "", "b": "B"}) == "a | r | B"


def test_joiners_and_right_to_left_marks_stay_in_a_label():
    assert step_text(Step("r"), {"r": "می\u200cخواهم"}) == "می\u200cخواهم"


def test_a_path_has_its_own_line_before_its_first_triple():
    subgraph = Subgraph(
        triples=(Triple("Q2", "P1", "Q1"), Triple("Q2", "P2", "x"), Triple("Q1", "P2", "y")),
        paths=(RankedPath("Q2", (Step("P1"),), 1.0), RankedPath("Q2", (Step("P2"),), 0.5)),
        path_of=(0, 1, 0),
    )
    assert fit(subgraph, LABELS, None, paths=True)[0].split("\n") == [
        "Latvia → capital",
        "Latvia | capital | Riga",
        "Latvia → population",
        "Latvia | population | x",
        "Riga | population | y",
    ]


def test_the_line_of_a_path_is_followed_by_where_another_meets_it():
    paths = (RankedPath("a", (Step("r"),), 0.0), RankedPath("b", (Step("s", inverse=True),), 0.0))
    nodes = tuple(f"n{i}" for i in range(6))
    met = Subgraph((Triple("a", "r", "n0"),), (0.0,), paths, (0,), joins=(Join((0, 1), nodes),))
    assert fit(met, {"a": "Ann"}, None, paths=True)[0].split("\n") == [
        "Ann → r",
        "Ann → r and b → is s of meet in n0, n1, n2, n3, n4, …",
        "Ann | r | n0",
    ]
    assert fit(met, {}, None)[0] == "a | r | n0"


def test_templates_change_the_wording():
    mine = Templates(triple="({subject}, {relation}, {object})", inverse="{relation}⁻¹", path_separator="/")
    assert triple_text(Triple("Q2", "P1", "Q1"), LABELS, mine) == "(Latvia, capital, Riga)"
    assert path_text((Step("P1", True), Step("P2")), LABELS, mine) == "capital⁻¹/population"


def test_braces_in_a_label_are_not_a_template():
    assert triple_text(Triple("{a}", "{0}", "{object.__class__}"), {}) == "{a} | {0} | {object.__class__}"


def test_templates_are_read_from_a_file(tmp_path):
    file = tmp_path / "words.yaml"
    file.write_text("inverse: inverse of {relation}\n", encoding="utf-8")
    assert step_text(Step("P1", True), LABELS, Templates.read(file)) == "inverse of capital"


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("invers: x", "Did you mean 'inverse'"),
        ("triple: '{subjekt}'", r"\{subjekt\}"),
        ("triple: '{subject.__class__}'", r"subject\.__class__"),
        ("triple: '{subject'", "template 'triple'"),
        ("- a", "name: text"),
        ("a: [", ":1:5: this is not YAML"),
    ],
)
def test_a_malformed_template_file_is_refused_with_the_reason(tmp_path, content, named):
    file = tmp_path / "words.yaml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=named):
        Templates.read(file)


def test_a_missing_template_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.yaml"):
        Templates.read(tmp_path / "none.yaml")


@given(subgraphs(), st.integers(0, 200), st.booleans())
def test_text_is_a_prefix_of_the_whole_and_never_over_the_budget(subgraph, tokens, paths):
    text, _ = fit(subgraph, {}, tokens, paths=paths)
    whole, _ = fit(subgraph, {}, None, paths=paths)
    assert count_tokens(text) <= tokens
    assert whole.startswith(text)


@given(subgraphs(), st.integers(0, 200))
def test_the_kept_triples_fit_and_one_more_would_not(subgraph, tokens):
    kept = within_tokens(subgraph, {}, tokens)
    size = len(kept.triples)
    assert kept.triples == subgraph.triples[:size]
    assert subgraph_tokens(kept, {}) <= tokens
    if size < len(subgraph.triples):
        assert subgraph_tokens(subgraph.first(size + 1), {}) > tokens
        assert kept.trace["cut"]["tokens"] == len(subgraph.triples) - size
    else:
        assert kept is subgraph


@given(subgraphs(), st.integers(0, 400))
def test_the_budget_holds_for_other_token_counters(subgraph, tokens):
    assert len(fit(subgraph, {}, tokens, len)[0]) <= tokens


@given(subgraphs())
def test_there_is_one_line_for_each_triple(subgraph):
    text, _ = fit(subgraph, {}, None)
    lines = text.split("\n") if text else []
    assert len(lines) == len(subgraph.triples)
    assert all(len(line.splitlines()) == 1 for line in lines)


def test_a_token_budget_counts_the_qualifiers_that_the_text_holds():
    triples = tuple(Triple("a", "r", f"b{i}") for i in range(9))
    sample = Sample(triples, qualifiers={t: (("since", Literal('"1998"')),) for t in triples})
    graph = OracleGraph(sample)
    graph.open()
    (found,) = finish(graph, [Subgraph(triples, (1.0,) * 9, path_of=(-1,) * 9)], Budget(tokens=30))
    assert found.qualifiers == ((("since", Literal('"1998"')),),) * 3
    assert subgraph_tokens(found, {}) == 30
    assert found.trace["cut"]["tokens"] == 6


PIECES = st.sampled_from(
    ["{subject}", "{relation}", "{object}", "{", "}", "{{", "{0}", "{subject!r}", "{object:>9}", "{subject.real}"]
)
TEMPLATES = st.dictionaries(
    st.sampled_from(["triple", "step", "inverse", "end", "qualifier", "path", "no such", "1"]),
    st.lists(PIECES | st.text(max_size=3), max_size=4).map("".join) | st.sampled_from([None, 1, [], {"a": "b"}]),
    max_size=4,
)


@settings(max_examples=200, deadline=None)
@given(TEMPLATES)
def test_any_templates_are_used_or_refused_with_an_input_error(templates):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "t.yaml")
        file.write_text(json.dumps(templates), encoding="utf-8", errors="surrogatepass")
        try:
            made = Templates.read(file)
        except InputError as error:
            assert str(error)  # noqa: PT017 - whether it is raised is drawn
            return
    path = RankedPath("Q1", (Step("r"), Step("s", True), END), 0.0)
    assert isinstance(triple_text(Triple("a", "r", "b"), {}, made, (("since", "Q3"),)), str)
    assert isinstance(path_text(path, {}, made), str)

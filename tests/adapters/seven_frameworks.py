"""Runs docs/how-to/agent-frameworks.md with scripted models, and compares the triples with `srtk run`.

    python seven_frameworks.py PAGE WORLD QUESTIONS

The program of each section is run for each question, with a retriever of the demo's graph for `films`. Prints an object
of JSON: framework to the number of questions whose triples are those of `srtk run`. No other computer may be reached.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Frameworks that tell how they are used, or fetch prices, are told not to.
os.environ |= {
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "LANGSMITH_TRACING": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
}
sys.addaudithook(lambda name, given: _refuse(given[1]) if name == "socket.connect" else None)


def _refuse(address: Any) -> None:
    if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
        raise SystemExit(f"{address[0]} would have been reached")


def programs(page: str) -> Iterator[tuple[str, str]]:
    """Yield the heading and the program of each section; the first has the graph and the question."""
    for section in re.split(r"^## ", page, flags=re.MULTILINE):
        [program] = re.findall(r"^```python\n(.*?)^```", section, flags=re.DOTALL | re.MULTILINE)
        yield section.partition("\n")[0], program


def langgraph_model(question: str) -> Any:
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **settings: Any) -> Any:
            return self

    call = {"name": "ask_graph", "args": {"question": question}, "id": "1", "type": "tool_call"}
    return Scripted(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("done")]))


def dspy_model(question: str) -> Any:
    from dspy.utils import DummyLM

    return DummyLM([{"answer": "done"}])


def pydantic_ai_model(question: str) -> Any:
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    def said(messages: Any, info: Any) -> Any:
        return ModelResponse(
            [TextPart("done") if len(messages) > 1 else ToolCallPart("ask_graph", {"question": question})]
        )

    return FunctionModel(said)


def openai_agents_model(question: str) -> Any:
    from agents import Model, ModelResponse, Usage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    arguments = json.dumps({"question": question})
    text = ResponseOutputText(text="done", type="output_text", annotations=[])
    steps: Iterator[Any] = iter(
        [
            ResponseFunctionToolCall(arguments=arguments, call_id="1", name="ask_graph", type="function_call"),
            ResponseOutputMessage(id="2", content=[text], role="assistant", status="completed", type="message"),
        ]
    )

    class Scripted(Model):
        async def get_response(self, *given: Any, **settings: Any) -> Any:
            return ModelResponse(output=[next(steps)], usage=Usage(), response_id=None)

        def stream_response(self, *given: Any, **settings: Any) -> Any:
            raise NotImplementedError

    return Scripted()


def joined(records: Any) -> list[Any]:
    return [triple for record in records for triple in record["triples"]]


MODELS: dict[str, Callable[[str], Any]] = {
    "LangGraph": langgraph_model,
    "DSPy": dspy_model,
    "Pydantic AI": pydantic_ai_model,
    "OpenAI Agents": openai_agents_model,
}
TRIPLES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "LangChain": lambda names: joined(one.metadata for one in names["documents"]),
    "LangGraph": lambda names: next(m.artifact for m in names["state"]["messages"] if m.type == "tool")["triplets"],
    "LlamaIndex": lambda names: joined(one.node.metadata for one in names["nodes"]),
    "Haystack": lambda names: joined(one.meta for one in names["found"]),
    "DSPy": lambda names: joined(names["prediction"].evidence),
    "Pydantic AI": lambda names: joined(
        next(p.content for m in names["said"].all_messages() for p in m.parts if p.part_kind == "tool-return")
    ),
    "OpenAI Agents": lambda names: joined(
        next(one.output for one in names["said"].new_items if one.type == "tool_call_output_item")
    ),
}
"""The triples that a program has at hand when it ends."""


def ran(retriever: Any, questions: Path) -> list[list[Any]]:
    """Return the triples of `srtk run` for each question, by the retriever's recipe."""
    recipe = f"{retriever.to_yaml()}questions: {questions}\nexporters: [{{use: jsonl, path: ran.jsonl}}]\noutput: run\n"
    Path("recipe.yaml").write_text(recipe, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "srtk_framework", "run", "--quiet", "recipe.yaml"], check=True)
    return [json.loads(line)["triplets"] for line in Path("ran.jsonl").read_text(encoding="utf-8").splitlines()]


def main() -> None:
    page, world, questions = map(Path, sys.argv[1:])
    from srtk_framework import Retriever

    (_, start), *sections = programs(page.read_text(encoding="utf-8"))
    assert {name for name, _ in sections} == set(TRIPLES)
    names: dict[str, Any] = {}
    exec(compile(start, str(page), "exec"), names)
    build = {"files": [str(world / "triples.tsv")], "labels": [str(world / "labels.tsv")]}
    names["films"] = Retriever({"use": "local", "path": str(Path("graph").resolve()), "build": build})
    asked = [json.loads(line)["question"] for line in questions.read_text(encoding="utf-8").splitlines()]
    wanted = ran(names["films"], questions)
    assert all(wanted)
    equal: dict[str, int] = {}
    for name, program in sections:
        code = compile(program, f"{page}: {name}", "exec")
        for question, triples in zip(asked, wanted, strict=True):
            names |= {"question": question, "model": MODELS[name](question) if name in MODELS else None}
            exec(code, names)
            equal[name] = equal.get(name, 0) + (TRIPLES[name](names) == triples)
    print(json.dumps(equal))


if __name__ == "__main__":
    main()

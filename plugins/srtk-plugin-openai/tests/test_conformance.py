"""The generator against the conformance kit, over a server on loopback."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from srtk_plugin_openai.generator import OpenAIGenerator
from srtk_plugin_openai.limits import ServerLimits

from srtk_framework.testing import GeneratorConformance

FORMS = {"schema": ("json_schema",), "object": ("json_object",), "none": ()}


def listed(body: Mapping[str, Any]) -> str:
    """Answer with as many numbers as the last message asks for, in the form that it asks for."""
    text = body["messages"][-1]["content"]
    asked = re.search(r"JSON list of (?:(\d+) to \d+|one) numbers?", text)
    if asked is None:
        return "Riga, I think, or some other town."
    numbers = list(range(1, int(asked[1] or 1) + 1))
    form = (body.get("response_format") or {}).get("type")
    return json.dumps(numbers if form is None else {"numbers": numbers})


def likely(body: Mapping[str, Any]) -> dict[str, float]:
    """Find letters the less probable the later they come."""
    letters = re.findall(r"^([A-T]): ", body["messages"][-1]["content"], re.MULTILINE)
    return {letter: -0.5 * place for place, letter in enumerate(letters, start=1)} | {"The": -9.5}


class TestOpenAI(GeneratorConformance):
    name = "openai"

    @pytest.fixture(params=["schema", "object", "none"])
    def driver(
        self, request: pytest.FixtureRequest, serve: Callable[..., Any], generator: Any, tmp_path: Any
    ) -> OpenAIGenerator:
        server = serve(listed, forms=FORMS[request.param], context=40_000, logprobs=likely)
        cache = str(tmp_path / "replies.db") if request.param == "none" else None
        made: OpenAIGenerator = generator(
            server, stream=request.param == "object", cache=cache, rating=request.param == "schema", price_in=1.0
        )
        return made

    @pytest.fixture
    def faulty(self) -> OpenAIGenerator:
        return OpenAIGenerator(model="tiny", base_url="http://127.0.0.1:9/v1", limits=ServerLimits(attempts=1))

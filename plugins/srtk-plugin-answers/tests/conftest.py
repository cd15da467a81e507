"""Questions to small files, for the tests of whole answers."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest

from srtk_framework import Graph, Retriever

Ask = Callable[[str, str], dict[str, Any]]


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Mapping[str, str]], Ask]]:
    """Write files, and return what answers a question on one of them; each is opened once."""
    with ExitStack() as stack:

        def on(files: Mapping[str, str]) -> Ask:
            folder, opened = tmp_path_factory.mktemp("files"), dict[str, Retriever]()
            for name, text in files.items():
                (folder / name).write_text(text)

            def answer(name: str, question: str) -> dict[str, Any]:
                if name not in opened:
                    made = Retriever(Graph.open(str(folder / name)), reader={"use": "paths"})
                    opened[name] = stack.enter_context(made)
                return opened[name].ask(question).to_record()

            return answer

        yield on


@pytest.fixture(scope="module")
def ask(request: pytest.FixtureRequest, asking: Callable[[Mapping[str, str]], Ask]) -> Ask:
    """Answer a question on one of the FILES of a module of tests."""
    answer = asking(request.module.FILES)
    return lambda name, question: answer(name, question)["answer"]

"""Methods are named after the files of their results, by the shortest distinct ends of the paths."""

from __future__ import annotations

import pytest
from srtk_plugin_evaluation import method_names

from srtk_framework.values import InputError


def test_methods_are_named_after_the_shortest_distinct_ends_of_their_paths() -> None:
    assert method_names(["out/beam.jsonl", "out/bfs.jsonl"]) == ["beam", "bfs"]
    assert method_names(["a/run/subgraphs.jsonl", "b/run/subgraphs.jsonl"]) == ["a", "b"]
    assert method_names(["a/x.jsonl", "a/y.jsonl", "b/x.jsonl"]) == ["a/x", "a/y", "b/x"]
    assert method_names(["a/x.jsonl", "x.jsonl"]) == ["a/x", "x"]
    assert method_names(["x.jsonl", "y.jsonl"], ["ours", "theirs"]) == ["ours", "theirs"]


@pytest.mark.parametrize(
    ("files", "names", "message"),
    [
        (["x.jsonl"], ["a", "b"], "1 result files, but 2 names"),
        (["x.jsonl", "y.jsonl"], ["a", "a"], "are not distinct; give"),
        (["x.jsonl", "x.jsonl"], None, "list each file once"),
    ],
)
def test_names_that_are_not_distinct_are_refused(files: list[str], names: list[str] | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        method_names(files, names)

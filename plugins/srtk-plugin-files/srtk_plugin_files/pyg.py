"""The ``pyg`` exporter: a heterogeneous graph of PyTorch Geometric for each result."""

from __future__ import annotations

import io
from typing import Any

import attrs

from srtk_framework.values import Literal, Retrieval
from srtk_plugin_files.facts import Fact, facts, library, named, nodes
from srtk_plugin_files.file_exporter import FileExporter

_INSTALL = "'srtk-plugin-files[pyg]'"


@attrs.define
class HeteroData(FileExporter):
    """Write a list of ``torch_geometric.data.HeteroData`` by ``torch.save``; ``Result.to`` gives one.

    Nodes are of the types ``entity`` and ``literal``, with ``ids`` and ``labels``. The type of an edge has the relation
    in its middle; edges have ``edge_index``, ``score`` (NaN where there is none), ``rank`` and ``provenance``. The
    graph itself has ``question``, ``text`` and, of a failed question, ``error``.
    """

    _graphs: list[Any] = attrs.field(init=False, factory=list, repr=False)

    def head(self) -> str:
        """Begin a list; without PyTorch Geometric nothing is begun."""
        library("torch_geometric.data", _INSTALL)
        self._graphs = []
        return ""

    def format(self, retrieval: Retrieval) -> str:
        """Add the graph of a retrieval, which is written at the end."""
        self._graphs.append(self.form(retrieval))
        return ""

    def tail(self) -> bytes:
        """Return all graphs."""
        whole = io.BytesIO()
        library("torch", _INSTALL).save(self._graphs, whole)
        self._graphs = []
        return whole.getvalue()

    def form(self, retrieval: Retrieval) -> Any:
        """Return the graph of a retrieval."""
        torch, data = library("torch", _INSTALL), library("torch_geometric.data", _INSTALL).HeteroData()
        data.question, data.text = retrieval.question.id, retrieval.question.text
        if retrieval.error is not None:
            data.error = retrieval.error
        numbers: dict[str, int] = {}
        found: dict[str, list[str]] = {"entity": []}
        for id_ in nodes(retrieval):
            members = found.setdefault(_kind(id_), [])
            numbers[id_] = len(members)
            members.append(id_)
        for kind, ids in found.items():
            data[kind].num_nodes = len(ids)
            data[kind].ids = [str(id_) for id_ in ids]
            data[kind].labels = [named(id_, retrieval.labels) or str(id_) for id_ in ids]
        edges: dict[tuple[str, str, str], list[Fact]] = {}
        for fact in facts(retrieval):
            subject, relation, object_ = fact.triple
            edges.setdefault((_kind(subject), relation, _kind(object_)), []).append(fact)
        for kinds, same in edges.items():
            ends = [[numbers[fact.triple[end]] for fact in same] for end in (0, 2)]
            scores = [float("nan") if fact.score is None else fact.score for fact in same]
            data[kinds].edge_index = torch.tensor(ends, dtype=torch.long)
            data[kinds].score = torch.tensor(scores, dtype=torch.float64)
            data[kinds].rank = torch.tensor([fact.place + 1 for fact in same])
            data[kinds].provenance = [fact.source for fact in same]
        return data


def _kind(id_: str) -> str:
    return "literal" if isinstance(id_, Literal) else "entity"

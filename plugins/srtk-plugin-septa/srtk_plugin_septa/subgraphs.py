"""The corpus ``subgraphs``: a sample of the graph around each centre, with its triples in words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path as FilePath

import attrs

from srtk_framework.graph import TripleTable
from srtk_framework.roles import Corpus, KnowledgeGraph, absent
from srtk_framework.values import Entry, SettingsError, at_least, batched, each
from srtk_plugin_septa.sampler import Sampler
from srtk_plugin_septa.wording import Wording, read_templates


@attrs.define(eq=False)
class SubgraphCorpus(Corpus):
    """Sample a subgraph around each centre, breadth first.

    The id of an entry is its centre. It carries all triples between the sampled nodes, those nearest to the centre
    first, and their text as far as it fits into ``tokens``. Literals are left out. A centre without a triple gives no
    entry. A sample and its text depend on the graph, the centre and the settings alone.

    Attributes:
        graph: The graph. Without ``centres`` it must be able to list its triples, as a snapshot does.
        centres: Ids of the centres; null for all entities that have a triple with an entity, be it with themselves
            alone.
        hops: Greatest distance of a node from the centre.
        fan: Most new nodes for one expanded node, a number for each hop; the seed decides which.
        inverse: Also go from the object of a triple to its subject.
        hub: Most neighbours read for one node at one step, first in order of id.
        seed: Seed of the draws.
        templates: File of relation templates; null for the labels of the relations.
        tokens: Most tokens of a text.
        named: Begin each text with the label of its centre. Without it, neighbours whose samples have the same triples
            differ in nothing but the order of their clauses.
        batch: Centres that are read at a time; it changes no entry.
    """

    graph: KnowledgeGraph
    centres: list[str] | None = None
    hops: int = attrs.field(default=2, validator=at_least(1))
    fan: list[int] = attrs.field(factory=lambda: [10, 5], validator=each(at_least(1)))
    inverse: bool = True
    hub: int = attrs.field(default=1000, validator=at_least(1))
    seed: int = attrs.field(default=0, validator=at_least(0))
    templates: str | None = None
    tokens: int = attrs.field(default=128, validator=at_least(1))
    named: bool = True
    batch: int = attrs.field(default=256, validator=at_least(1))
    _forms: dict[str, str] = attrs.field(init=False, factory=dict, repr=False)

    def __attrs_post_init__(self) -> None:
        if len(self.fan) != self.hops:
            raise SettingsError([(("fan",), f"fan is {self.fan} for {self.hops} hops; give one number for each hop")])

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the file of templates exists."""
        return absent("templates", self.templates, "correct the path, or omit it to use labels")

    def open(self) -> None:
        """Read the templates."""
        self._forms = read_templates(FilePath(self.templates).expanduser()) if self.templates else {}

    def read(self) -> Iterator[Entry]:
        """Yield the entries in the order of ``centres``, or sorted.

        Raises:
            DriverError: If a centre is no node of the graph, or the graph cannot list its triples.
        """
        return (entry for entry, _ in self.counted())

    def counted(self) -> Iterator[tuple[Entry, dict[str, int]]]:
        """Yield the entries, each with the counts of its limits.

        ``drawn`` counts nodes with more neighbours than were taken, ``hubs`` nodes with more than were read, and
        ``unsaid`` triples without room in the text.
        """
        centres = TripleTable.of(self.graph).entities if self.centres is None else dict.fromkeys(self.centres)
        sampler = Sampler(self.graph, self.fan, self.inverse, self.hub, self.seed)
        wording = Wording(self.graph, self._forms, self.tokens)
        for some in batched(list(centres), self.batch):
            samples = [sample for sample in sampler.samples(some) if sample.triples]
            names = [sample.centre for sample in samples] if self.named else None
            texts = wording.texts([sample.triples for sample in samples], names)
            for sample, (text, clauses) in zip(samples, texts, strict=True):
                counts = {"drawn": sample.drawn, "hubs": sample.hubs, "unsaid": len(sample.triples) - clauses}
                yield Entry(sample.centre, text, sample.triples), counts

    def fingerprint(self) -> str:
        """Identify the subgraphs by the data of the graph, wherever it stands, the templates and the settings."""
        forms = hashlib.sha256(repr(sorted(self._forms.items())).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        centres = None if self.centres is None else hashlib.sha256(repr(self.centres).encode()).hexdigest()[:16]
        settings = (centres, self.hops, self.fan, self.inverse, self.hub, self.seed, forms, self.tokens, self.named)
        return f"corpus:subgraphs{settings!r} of {self.graph.source()}"

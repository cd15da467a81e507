"""Questions made from a graph's own paths, for adapting a scorer to a graph that has no questions.

A step becomes a noun phrase ("the capital of Riga's country"), a genitive ("Riga's country"), a clause ("whose capital
is Riga") or a few words ("country Riga"). The question words change too. People do not repeat a whole label in its
order: words are left out, and "place of birth" is turned to "birth place".
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

import attrs
import numpy as np

from srtk_framework.graph import TripleTable
from srtk_framework.roles import Dataset, Generator, KnowledgeGraph
from srtk_framework.values import InputError, Link, Message, Prompt, Question, at_least, batched
from srtk_plugin_sr.templates import readable
from srtk_plugin_sr.walks import WalkSource

_TASK = (
    "Say the following question as a person would ask it who does not know the words of the database. Keep the name"
    " {name} as it is. Reply with the question alone.\n\n{text}"
)
_LENGTH = 60
"""Maximum number of tokens of a reply."""
_AT_ONCE = 64
DROPPED = 0.15
"""Probability with which a word of a label with several words is left out."""
TURNED = 0.2
"""Probability with which the two sides of an "of" in a label change places."""

FORWARD = (
    "the {r} of {x}",
    "{x}'s {r}",
    "{r} of {x}",
    "{x} {r}",
    "the {r} that {x} has",
    "what {x} has as {r}",
    "the {r} for {x}",
    "{r} for {x}",
    "the {r} in which {x} is",
    "whatever is the {r} of {x}",
)
BACKWARD = (
    "what has {x} as {r}",
    "the one whose {r} is {x}",
    "the ones with the {r} {x}",
    "those that have {x} as {r}",
    "{r} {x}",
    "what {x} is the {r} of",
    "everything with {x} as its {r}",
    "that of which {x} is the {r}",
    "the one with {r} {x}",
)
OPENINGS = (
    "what is {x}",
    "who is {x}",
    "which is {x}",
    "where is {x}",
    "when is {x}",
    "what are {x}",
    "who are {x}",
    "name {x}",
    "list {x}",
    "tell me {x}",
    "give me {x}",
    "do you know {x}",
    "how is {x} called",
    "in what is {x}",
    "{x}",
    "{x} is what",
)
_MARK = "\0"


@attrs.define(eq=False)
class MadeQuestions(Dataset):
    """Make questions from the paths of a graph, each with its path and the entities that the path leads to.

    For a graph without questions. The graph must be able to list its triples, as a snapshot does. Its noise relations
    are not asked for.

    Attributes:
        graph: The graph.
        generator: Rewords the questions, if it is named here; a reply without the entity's name, or with several lines,
            is not taken.
        count: Number of questions; fewer where the graph has no paths, or the same question is made twice.
        depth: Largest number of steps of a path, as in the search.
        seed: Seed of everything that is drawn.
        hub: Maximum number of answers; a path that leads to more is left out.
    """

    graph: KnowledgeGraph
    generator: Generator | None = None
    count: int = attrs.field(default=2000, validator=at_least(1))
    depth: int = attrs.field(default=2, validator=at_least(1))
    seed: int = 0
    hub: int = attrs.field(default=100, validator=at_least(1))

    def read(self) -> Iterator[Question]:
        """Yield the questions.

        Raises:
            InputError: If the graph has no triple between two different entities, but for its noise relations.
        """
        made = self._made()
        if self.generator is None:
            yield from made
            return
        for batch in batched(made, _AT_ONCE):
            yield from _reworded(batch, self.generator)

    def _made(self) -> Iterator[Question]:
        table = TripleTable.of(self.graph)
        patterns = self.graph.schema().noise
        noise = [name for name in table.relations if any(fnmatchcase(name, pattern) for pattern in patterns)]
        asked = ~np.isin(table.triples[:, 1], [table.relation_numbers[name] for name in noise])
        if not (asked & (table.triples[:, 0] != table.triples[:, 2])).any():
            but = " except by its noise relations" if noise else ""
            raise InputError(
                f"{self.graph.source()} has no triple between two different entities{but}, so that no question is made"
            )
        walks = WalkSource(table, self.seed, self.depth, noise)
        drawn = [walk for walk in (walks.draw() for _ in range(self.count)) if walk is not None]
        ids = sorted({id_ for entity, steps in drawn for id_ in (entity, *(step.relation for step in steps))})
        labels = dict(zip(ids, self.graph.labels(ids), strict=True))
        # A seed of its own, so that wordings do not repeat the draws of the walks.
        chance = random.Random(self.seed + 1)
        seen = set()
        for entity, steps in drawn:
            answers = walks.ends(entity, steps)
            words = [(spoken(labels[step.relation]), step.inverse) for step in steps]
            text, (start, end) = in_words(labels[entity], words, chance)
            if text in seen or not 0 < len(answers) <= self.hub:
                continue
            seen.add(text)
            link = Link(entity, start=start, end=end, name=labels[entity])
            yield Question(f"made-{len(seen)}", text, (link,), answers=tuple(answers), gold_paths=(steps,))


def _reworded(questions: Sequence[Question], generator: Generator) -> Iterator[Question]:
    """Ask a generator for other words; a question whose name is lost stays as it is."""
    tasks = [_TASK.format(name=question.links[0].name, text=question.text) for question in questions]
    prompts = [Prompt((Message("user", task),), length=_LENGTH) for task in tasks]
    for question, reply in zip(questions, generator.generate(prompts), strict=True):
        link, text = question.links[0], reply.text.strip()
        start = text.find(link.name or "")
        if reply.error is not None or reply.finish == "length" or start < 0 or "\n" in text:
            yield question
            continue
        moved = attrs.evolve(link, start=start, end=start + len(link.name or ""))
        yield attrs.evolve(question, text=text, links=(moved,))


def in_words(name: str, steps: Sequence[tuple[str, bool]], chance: random.Random) -> tuple[str, tuple[int, int]]:
    """Put a path into words.

    Args:
        name: Name of its entity.
        steps: Label of each relation, and whether the step goes against it.
        chance: Draws the wording.

    Returns:
        The question, and where the name stands in it.
    """
    phrase = _MARK
    for label, inverse in steps:
        form = chance.choice(BACKWARD if inverse else FORWARD)
        phrase = form.format(r=_some_words(label, chance), x=phrase)
    text = chance.choice(OPENINGS).format(x=phrase) + chance.choice(("?", "", " ?"))
    start = text.index(_MARK)
    return text.replace(_MARK, name), (start, start + len(name))


def spoken(label: str) -> str:
    """Return a relation's label without the prefix of its namespace, split into words."""
    return readable(label.rpartition(":")[2] or label)


def _some_words(label: str, chance: random.Random) -> str:
    """Return a label in small letters, now and then turned or without a word."""
    words = label.lower().split()
    if "of" in words[1:-1] and chance.random() < TURNED:
        at = words.index("of", 1)
        words = words[at + 1 :] + words[:at]
    if len(words) > 1:
        words = [word for word in words if chance.random() >= DROPPED] or words
    return " ".join(words)

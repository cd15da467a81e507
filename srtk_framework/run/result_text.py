"""The text of a result on a screen: the answer with its proof, the paths with the nodes they pass, the triples."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import attrs

from srtk_framework.text import answer_line, answer_notes, count_tokens, lacking, refusal_line
from srtk_framework.values import Link, Literal, RankedPath, Retrieval, Step, on_one_line

PROOF = 5
"""Lines of a proof that are shown beside the answer."""
ALTERNATIVES = 4
"""Other answers that are shown."""
_NAMES = 3
"""Nodes that are named at one place of a path; the others are counted."""
_INDENT = "   "
Piece = tuple[str, float | None, Sequence[int]]
"""A text in words, its score, and the places of its triples."""
_Following = Mapping[tuple[str, Step], Sequence[tuple[int, str]]]


@attrs.frozen
class Way:
    """The instances of a path in a subgraph.

    Attributes:
        path: The path.
        reached: The nodes at its start, behind each step and at its end.
        places: The places of the triples that it passes.
    """

    path: RankedPath
    reached: Sequence[Sequence[str]]
    places: frozenset[int]

    @property
    def ends(self) -> Sequence[str]:
        """The nodes at the end."""
        return self.reached[-1]

    @property
    def turns_back(self) -> bool:
        """Whether a step is followed by its inverse."""
        steps = self.path.steps
        return any(step == Step(then.relation, not then.inverse) for step, then in pairwise(steps))


@attrs.frozen
class ResultText:
    """Writes the parts of a result, in lines.

    Attributes:
        retrieval: The retrieval.
        width: Characters of a line.
    """

    retrieval: Retrieval
    width: int

    def answer(self, most: int | None) -> list[str]:
        """Write the answer on a line that ends in it, and below it the counted or deciding facts; or the refusal.

        Args:
            most: Most names of a note; None for all.
        """
        answer = self.retrieval.answer
        if answer is None:
            return []
        refused = not answer.enough or not answer.text.strip()
        head = "no answer: " if refused else "answer: "
        text = refusal_line(answer) if refused else answer_line(answer, self.retrieval.subgraph)
        return [line(head, on_one_line(text), self.width), *self.notes(" " * len(head), most)]

    def notes(self, head: str, most: int | None) -> list[str]:
        """Write the notes below an answer, or about a question without an answer.

        Args:
            head: Text before each.
            most: Most names of a note; None for all.
        """
        notes = answer_notes(self.retrieval.answer, self.retrieval.subgraph, self.retrieval.labels, most)
        return [line(head, on_one_line(note), self.width) for note in notes]

    def proof(self, most: int | None) -> list[str]:
        """Write the triples that support the answer, joined to paths where they are instances of a path."""
        entries = self._proof()
        return [line(_INDENT, text, self.width) for text in entries[:most]] + more(len(entries), most, "line", _INDENT)

    def alternatives(self) -> list[str]:
        """Write the other answers, each as the end of the path that leads to it."""
        answer = self.retrieval.answer
        if answer is None:
            return []
        following = self._following()
        lines = []
        for one in answer.alternatives[:ALTERNATIVES]:
            known = 0 <= one.path < len(self.retrieval.subgraph.paths)
            way = self._way(self.retrieval.subgraph.paths[one.path], following) if known else None
            text = one.text
            if way is not None:
                text = self.way(way) if {*one.entities} == {*way.ends} else f"{text}: {self.way(way)}"
            lines.append(line(_INDENT, on_one_line(text), self.width))
        return lines

    def ways(self) -> list[Way]:
        """Return the paths with a whole instance in the subgraph, best first."""
        following = self._following()
        ways = (self._way(path, following) for path in self.retrieval.subgraph.paths if path.steps)
        return [way for way in ways if way is not None]

    def paths(self, ways: Sequence[Way], most: int | None) -> list[str]:
        """Write paths with their scores; unless all are asked for, those that lead to nothing new are counted."""
        named = {link.entity for link in self.retrieval.question.links}
        shown = [(way, 0) for way in ways] if most is None else folded(ways, named)
        lines = []
        for way, count in shown[:most]:
            lines.append(line(score(way.path.score), self.way(way), self.width))
            if count:
                lines.append(f"{'':9}reached by {counted(count, 'other path')} too")
        return lines + more(len(shown), most, "path")

    def triples(self, most: int | None) -> list[str]:
        """Write triples with their scores."""
        triples, scores = self.retrieval.subgraph.triples, self.retrieval.subgraph.scores
        ranked = enumerate((scores or (None,) * len(triples))[:most])
        lines = [line(score(value), self.triple(place), self.width) for place, value in ranked]
        return lines + more(len(triples), most, "triple")

    def path_evidence(self) -> Iterator[Piece]:
        """Yield the paths with a whole instance."""
        yield from ((self.way(way), way.path.score, sorted(way.places)) for way in self.ways())

    def triple_evidence(self) -> Iterator[Piece]:
        """Yield the triples."""
        scores = self.retrieval.subgraph.scores or (None,) * len(self.retrieval.subgraph.triples)
        yield from ((self.triple(place), value, [place]) for place, value in enumerate(scores))

    def answer_evidence(self) -> Iterator[Piece]:
        """Yield the answer of the reader and the other answers; nothing without a reader, or of a refusal."""
        answer, subgraph = self.retrieval.answer, self.retrieval.subgraph
        if answer is None or not answer.enough or not answer.text.strip():
            return
        places = [place for place in answer.support if place < len(subgraph.triples)]
        scores = [subgraph.scores[place] for place in places if place < len(subgraph.scores)]
        yield on_one_line(answer_line(answer, subgraph)), max(scores, default=None), places
        following = self._following()
        for one in answer.alternatives:
            path = subgraph.paths[one.path] if 0 <= one.path < len(subgraph.paths) else None
            way = None if path is None else self._way(path, following)
            yield on_one_line(one.text), None if path is None else path.score, sorted(way.places) if way else []

    def way(self, way: Way) -> str:
        """Write a path with the names of the nodes that it passes."""
        parts = [self._nodes(way.reached[0], _NAMES)]
        for number, step in enumerate(way.path.steps, start=1):
            name = self.label(step.relation)
            parts.append(f"<-{name}-" if step.inverse else f"-{name}->")
            parts.append(self._nodes(way.reached[number], _NAMES if number == len(way.path.steps) else 1))
        return " ".join(parts)

    def triple(self, place: int) -> str:
        """Write a triple with names, and its confidence if the graph lacks it."""
        subgraph = self.retrieval.subgraph
        triple, confidences = subgraph.triples[place], subgraph.confidences
        text = f"{self.label(triple.subject)} -{self.label(triple.relation)}-> {self.label(triple.object)}"
        return text + (lacking(confidences[place]) if place < len(confidences) else "")

    def label(self, id_: str) -> str:
        """Return the name of an entity or a relation, or the text of a literal, on one line."""
        return label(self.retrieval, id_)

    def _nodes(self, nodes: Sequence[str], most: int) -> str:
        names = list(dict.fromkeys(self.label(node) for node in nodes))
        if len(names) <= most:
            return ", ".join(names)
        return f"({len(names)})" if most == 1 else f"{', '.join(names[:most])} and {len(names) - most} more"

    def _proof(self) -> list[str]:
        """Return the entries of the proof: paths that pass most of the support's triples, then the other triples."""
        answer, subgraph = self.retrieval.answer, self.retrieval.subgraph
        # A completed triple is written by itself, with its confidence.
        support = [] if answer is None else [place for place in answer.support if place < len(subgraph.triples)]
        following = self._following(place for place in support if not self._lacking(place))
        ways = [way for path in subgraph.paths if path.steps and (way := self._way(path, following)) is not None]
        left, entries = set(support), []
        while ways:
            best = max(ways, key=lambda way: (len(way.places & left), -len(way.path.steps)))
            if not best.places & left:
                break
            entries.append(self.way(best))
            left -= best.places
        return [*entries, *(self.triple(place) for place in support if place in left)]

    def _lacking(self, place: int) -> bool:
        confidences = self.retrieval.subgraph.confidences
        return place < len(confidences) and confidences[place] < 1

    def _following(self, places: Iterable[int] | None = None) -> _Following:
        """Index triples by the node and the step that lead on."""
        triples = self.retrieval.subgraph.triples
        following: dict[tuple[str, Step], list[tuple[int, str]]] = {}
        for place in range(len(triples)) if places is None else places:
            subject, relation, object_ = triples[place]
            following.setdefault((subject, Step(relation)), []).append((place, object_))
            following.setdefault((object_, Step(relation, True)), []).append((place, subject))
        return following

    def _way(self, path: RankedPath, following: _Following) -> Way | None:
        """Return where a path leads; None if no triples lead along it to another entity."""
        reached: list[list[str]] = [[path.entity]]
        before: list[dict[str, dict[str, int]]] = []
        for step in path.steps:
            found = sorted((place, end, node) for node in reached[-1] for place, end in following.get((node, step), ()))
            came: dict[str, dict[str, int]] = {}
            for place, end, start in found:
                came.setdefault(end, {})[start] = place
            if not came:
                return None
            before.append(came)
            reached.append(list(came))
        reached[-1] = [node for node in reached[-1] if node != path.entity]
        if not reached[-1]:
            return None
        places: set[int] = set()
        # Only the nodes from which the path goes on to its end.
        for at in range(len(before) - 1, -1, -1):
            used = {start: place for end in reached[at + 1] for start, place in before[at][end].items()}
            places |= {place for end in reached[at + 1] for place in before[at][end].values()}
            reached[at] = [node for node in reached[at] if node in used]
        return Way(path, reached, frozenset(places))


def folded(ways: Sequence[Way], named: Collection[str]) -> list[tuple[Way, int]]:
    """Fold the paths that lead to nothing new into better paths with the same ends.

    A path is folded where all of its ends are ends of a better shown path, beside nodes that the question names. A
    path with a step and then its inverse is also folded where its ends are named, or any nodes of a better path. A
    path between two named nodes without such a turn stays.

    Returns:
        The paths that are shown, each with the number of those folded into it.
    """
    shown: list[Way] = []
    counts: list[int] = []
    for way in ways:
        rest = set(way.ends) - set(named)
        place = next((i for i, better in enumerate(shown) if _holds(better, way, rest)), None)
        if place is None:
            shown.append(way)
            counts.append(0)
        else:
            counts[place] += 1
    return list(zip(shown, counts, strict=True))


def _holds(better: Way, way: Way, rest: set[str]) -> bool:
    """Return whether a better path has the ends of another that are not named."""
    if way.turns_back:
        return rest <= {node for nodes in better.reached for node in nodes}
    return bool(rest) and rest <= set(better.ends)


def label(retrieval: Retrieval, id_: str) -> str:
    """Return the name of an entity or a relation, or the text of a literal, on one line."""
    return on_one_line(id_.lexical if isinstance(id_, Literal) else retrieval.labels.get(id_, id_))


def names(links: Iterable[Link]) -> str:
    """Return the names of links."""
    return ", ".join(dict.fromkeys(on_one_line(link.name or link.entity) for link in links))


def score(value: float | None) -> str:
    """Write a score before an entry."""
    return f"{'' if value is None else format(value, '.2f'):>7}  "


def line(head: str, text: str, width: int) -> str:
    """Write an entry, on several lines where it is too long."""
    wide = max(width, len(head) + 20)
    return textwrap.fill(text, wide, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False)


def more(count: int, shown: int | None, what: str, indent: str = " " * 9) -> list[str]:
    """Write how many entries are not shown, if any."""
    rest = 0 if shown is None else count - shown
    return [f"{indent}and {counted(rest, f'more {what}')}"] if rest > 0 else []


def counted(count: int, what: str) -> str:
    """Write a number of things."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def cut_lines(text: str, tokens: int) -> str:
    """Cut lines before the last, which says what is not shown, until a text has at most so many tokens."""
    lines = text.split("\n")
    last = f"{lines.pop()}, " if lines[-1].startswith("not shown: ") else "not shown: "
    kept = len(lines)
    while count_tokens(text) > tokens and kept:
        kept -= 1
        text = "\n".join([*lines[:kept], f"{last}{counted(len(lines) - kept, 'line')}"])
    return text

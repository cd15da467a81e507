"""Verbalisation of steps, paths, triples and subgraphs by templates and within token budgets."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path as FilePath

import attrs

from srtk_framework.text.folding import count_tokens
from srtk_framework.text.yaml_data import read_yaml
from srtk_framework.values import (
    END,
    InputError,
    Join,
    Literal,
    Path,
    Qualifier,
    RankedPath,
    Step,
    Subgraph,
    Triple,
    close_matches,
    written_confidence,
)

Count = Callable[[str], int]
"""Function that counts the tokens of a text: ``text.count_tokens``, or a model's tokenizer."""

_PLACES = {
    "triple": ("subject", "relation", "object"),
    "step": ("relation",),
    "inverse": ("relation",),
    "end": (),
    "qualifier": ("relation", "value"),
    "qualifiers": ("triple", "qualifiers"),
    "completed": ("triple", "confidence"),
    "explained": ("triple", "confidence", "evidence"),
    "path": ("start", "steps"),
    "join": ("paths", "nodes"),
    "join_separator": (),
    "node_separator": (),
    "path_separator": (),
    "qualifier_separator": (),
}


@attrs.frozen
class Templates:
    """Templates for verbalisation, with placeholders in braces.

    Attributes:
        triple: A triple; ``subject``, ``relation`` and ``object``.
        step: A forward step; ``relation``.
        inverse: An inverse step; ``relation``.
        end: The candidate that ends a path.
        qualifier: A qualifier; ``relation`` and ``value``.
        qualifiers: A triple with qualifiers; ``triple`` and ``qualifiers``.
        completed: A triple that the graph lacks, without a reason for it; ``triple`` and ``confidence``.
        explained: A triple that the graph lacks, with the first reason; ``triple``, ``confidence`` and ``evidence``.
        path: A path; ``start`` and ``steps``.
        join: Paths from different topics, and the nodes where they meet; ``paths`` and ``nodes``.
        join_separator: Separator of such paths.
        node_separator: Separator of such nodes.
        path_separator: Separator of steps.
        qualifier_separator: Separator of qualifiers.
    """

    triple: str = "{subject} | {relation} | {object}"
    step: str = "{relation}"
    inverse: str = "is {relation} of"
    end: str = "end"
    qualifier: str = "{relation}: {value}"
    qualifiers: str = "{triple} ({qualifiers})"
    completed: str = "{triple} [not in the graph; confidence {confidence}]"
    explained: str = "{triple} [not in the graph; confidence {confidence}: {evidence}]"
    path: str = "{start} → {steps}"
    join: str = "{paths} meet in {nodes}"
    join_separator: str = " and "
    node_separator: str = ", "
    path_separator: str = " → "
    qualifier_separator: str = "; "

    def __attrs_post_init__(self) -> None:
        for name, places in _PLACES.items():
            _check(name, getattr(self, name), places)

    @classmethod
    def read(cls, path: str | FilePath) -> Templates:
        """Read templates from a YAML file of ``name: template``; missing names keep their defaults.

        Raises:
            InputError: If the file cannot be read or is no such mapping, or a template is unknown or malformed.
        """
        try:
            text = FilePath(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot read the templates: {error}") from error
        found = read_yaml(text, str(path))
        if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
            raise InputError(f"{path}: templates are lines of `name: text`, with names from {', '.join(_PLACES)}")
        for name in found:
            if name not in _PLACES:
                raise InputError(f"{path}: there is no template {name!r}.{close_matches(str(name), list(_PLACES))}")
        return cls(**found)


def _check(name: str, template: str, places: tuple[str, ...]) -> None:
    try:
        fields = [(field, spec, how) for _, field, spec, how in string.Formatter().parse(template) if field is not None]
    except ValueError as error:
        raise InputError(f"template {name!r}: {error}; write {{{{ and }}}} for braces: {template!r}") from error
    for field, spec, how in fields:
        if field not in places or spec or how:
            known = ", ".join(f"{{{place}}}" for place in places) or "none"
            raise InputError(f"template {name!r} has {{{field}}}, but its placeholders are: {known}")


DEFAULT = Templates()
NODES = 5
"""Nodes in which paths meet that a line names."""


def clean(text: str) -> str:
    """Put a text on one line: runs of whitespace and control characters become one blank."""
    if text.isprintable():
        return " ".join(text.split())
    return " ".join("".join(char if char.isprintable() else _blank(char) for char in text).split())


def _blank(char: str) -> str:
    # Python counts joiners and directional marks as unprintable, but they belong to words of several scripts.
    return " " if char.isspace() or char < " " or "\x7f" <= char <= "\x9f" or "\ud800" <= char <= "\udfff" else char


def name(id_: str, labels: Mapping[str, str]) -> str:
    """Return the name of an entity, relation or literal on one line: its label, else its lexical form, else its id."""
    label = clean(labels.get(id_, ""))
    if label:
        return label
    return clean(id_.lexical) if isinstance(id_, Literal) else clean(id_)


def step_text(step: Step, labels: Mapping[str, str], templates: Templates = DEFAULT) -> str:
    """Verbalise a step."""
    if step == END:
        return templates.end.format()
    template = templates.inverse if step.inverse else templates.step
    return template.format(relation=name(step.relation, labels))


def path_text(path: Path | RankedPath, labels: Mapping[str, str], templates: Templates = DEFAULT) -> str:
    """Verbalise a path; a ranked path begins with its entity."""
    if isinstance(path, RankedPath):
        start = name(path.entity, labels)
        text = path_text(path.steps, labels, templates)
        return templates.path.format(start=start, steps=text) if text else start
    return templates.path_separator.format().join(step_text(step, labels, templates) for step in path)


def triple_text(
    triple: Triple, labels: Mapping[str, str], templates: Templates = DEFAULT, qualifiers: tuple[Qualifier, ...] = ()
) -> str:
    """Verbalise a triple and its qualifiers on one line."""
    text = templates.triple.format(
        subject=name(triple.subject, labels), relation=name(triple.relation, labels), object=name(triple.object, labels)
    )
    if not qualifiers:
        return text
    parts = [templates.qualifier.format(relation=name(r, labels), value=name(v, labels)) for r, v in qualifiers]
    return templates.qualifiers.format(triple=text, qualifiers=templates.qualifier_separator.format().join(parts))


def triple_line(
    subgraph: Subgraph, place: int, labels: Mapping[str, str], templates: Templates = DEFAULT, qualified: bool = True
) -> str:
    """Verbalise the triple at a place of a subgraph on one line, with a mark if the graph lacks it.

    Args:
        subgraph: The subgraph.
        place: Index of the triple.
        labels: Labels of its entities and relations.
        templates: The templates.
        qualified: Whether to verbalise the qualifiers, too.
    """
    qualifiers = subgraph.qualifiers[place] if qualified and place < len(subgraph.qualifiers) else ()
    text = triple_text(subgraph.triples[place], labels, templates, qualifiers)
    if place >= len(subgraph.confidences) or subgraph.confidences[place] >= 1:
        return text
    confidence = format(written_confidence(subgraph.confidences[place]), "g")
    reasons = subgraph.evidence[place] if place < len(subgraph.evidence) else ()
    if not reasons:
        return templates.completed.format(triple=text, confidence=confidence)
    return templates.explained.format(triple=text, confidence=confidence, evidence=clean(reasons[0].text))


def join_text(subgraph: Subgraph, join: Join, labels: Mapping[str, str], templates: Templates = DEFAULT) -> str:
    """Verbalise where paths meet, by the first few of the nodes."""
    paths = (path_text(subgraph.paths[rank], labels, templates) for rank in join.paths)
    nodes = [name(node, labels) for node in join.nodes[:NODES]]
    if len(join.nodes) > NODES:
        nodes.append("…")
    return templates.join.format(
        paths=templates.join_separator.format().join(paths), nodes=templates.node_separator.format().join(nodes)
    )


def _blocks(subgraph: Subgraph, labels: Mapping[str, str], templates: Templates, paths: bool) -> Iterator[list[str]]:
    """Yield the lines of each triple; the line of a path, and where others meet it, precedes its first triple."""
    shown: set[int] = set()
    for i in range(len(subgraph.triples)):
        lines = []
        rank = subgraph.path_of[i] if i < len(subgraph.path_of) else -1
        if paths and 0 <= rank < len(subgraph.paths) and rank not in shown:
            shown.add(rank)
            lines.append(path_text(subgraph.paths[rank], labels, templates))
            lines += [join_text(subgraph, join, labels, templates) for join in subgraph.joins if join.paths[0] == rank]
        yield [*lines, triple_line(subgraph, i, labels, templates)]


def within_tokens(subgraph: Subgraph, labels: Mapping[str, str], tokens: int | None) -> Subgraph:
    """Keep the longest prefix of triples whose text fits; count the rest in ``trace["cut"]["tokens"]``."""
    return subgraph.first(fit(subgraph, labels, tokens)[1], "tokens")


def subgraph_tokens(subgraph: Subgraph, labels: Mapping[str, str]) -> int:
    """Count the tokens of a subgraph's whole text."""
    return count_tokens(fit(subgraph, labels, None)[0])


def fit(
    subgraph: Subgraph,
    labels: Mapping[str, str],
    tokens: int | None,
    count: Count = count_tokens,
    templates: Templates = DEFAULT,
    paths: bool = False,
) -> tuple[str, int]:
    """Return the text of the longest prefix of triples that fits into ``tokens`` tokens, and its number of triples.

    There is a line per triple, never truncated; with ``paths``, a path precedes its first triple. None for ``tokens``
    is all triples.

    The token count of a text differs from the sum of its lines, so whole prefixes are counted: their length is
    doubled until they do not fit, then bisected. Counts are assumed to grow with the text.
    """
    blocks: list[str] = []
    source = _blocks(subgraph, labels, templates, paths)
    total = len(subgraph.triples)

    def text(size: int) -> str:
        while len(blocks) < size:
            blocks.append("\n".join(next(source)))
        return "\n".join(blocks[:size])

    if tokens is None:
        return text(total), total
    good, bad, best = 0, total + 1, ""
    size = min(16, total)
    while size and good < size < bad:
        tried = text(size)
        if count(tried) <= tokens:
            good, best = size, tried
        else:
            bad = size
        size = min(2 * good, total) if bad > total else (good + bad) // 2
    return best, good

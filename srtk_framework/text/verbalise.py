"""Put steps, paths, triples and subgraphs into words, over replaceable templates and within token budgets."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path as FilePath

import attrs

from srtk_framework.text.folding import count_tokens
from srtk_framework.values import (
    END,
    InputError,
    Literal,
    Path,
    Qualifier,
    RankedPath,
    Step,
    Subgraph,
    Triple,
    close_matches,
)

Count = Callable[[str], int]
"""Counts the tokens of a text; a model's tokenizer may stand in for ``text.count_tokens``."""

_PLACES = {
    "triple": ("subject", "relation", "object"),
    "step": ("relation",),
    "inverse": ("relation",),
    "end": (),
    "qualifier": ("relation", "value"),
    "qualifiers": ("triple", "qualifiers"),
    "path": ("start", "steps"),
    "path_separator": (),
    "qualifier_separator": (),
}


@attrs.frozen
class Templates:
    """The wording; names in braces are filled in.

    Attributes:
        triple: A fact, of ``subject``, ``relation`` and ``object``.
        step: A ``relation`` walked forward.
        inverse: A ``relation`` walked against its direction.
        end: The candidate that ends a path.
        qualifier: One ``relation`` and ``value`` of a statement.
        qualifiers: A ``triple`` with its ``qualifiers``.
        path: ``steps`` from a ``start``.
        path_separator: Stands between steps.
        qualifier_separator: Stands between qualifiers.
    """

    triple: str = "{subject} | {relation} | {object}"
    step: str = "{relation}"
    inverse: str = "is {relation} of"
    end: str = "end"
    qualifier: str = "{relation}: {value}"
    qualifiers: str = "{triple} ({qualifiers})"
    path: str = "{start} → {steps}"
    path_separator: str = " → "
    qualifier_separator: str = "; "

    def __attrs_post_init__(self) -> None:
        for name, places in _PLACES.items():
            _check(name, getattr(self, name), places)

    @classmethod
    def read(cls, path: str | FilePath) -> Templates:
        """Read a YAML file of ``name: template``; what it leaves out keeps its default.

        Raises:
            InputError: If the file is missing or not such a mapping, or a template does not exist or cannot be filled.
        """
        import yaml

        try:
            text = FilePath(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot read the templates: {error}") from error
        try:
            found = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise InputError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error
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
            raise InputError(f"template {name!r} has {{{field}}}, but its places are: {known}")


DEFAULT = Templates()


def clean(text: str) -> str:
    """Bring a text onto one line: runs of blanks, line ends and control characters become one blank."""
    if text.isprintable():
        return " ".join(text.split())
    return " ".join("".join(char if char.isprintable() else _blank(char) for char in text).split())


def _blank(char: str) -> str:
    # Joiners and marks of direction are not printable for Python, yet belong to words of several scripts.
    return " " if char.isspace() or char < " " or "\x7f" <= char <= "\x9f" or "\ud800" <= char <= "\udfff" else char


def name(id_: str, labels: Mapping[str, str]) -> str:
    """Name an entity, relation or literal on one line: its label, else a literal's lexical form, else the id."""
    label = clean(labels.get(id_, ""))
    if label:
        return label
    return clean(id_.lexical) if isinstance(id_, Literal) else clean(id_)


def step_text(step: Step, labels: Mapping[str, str], templates: Templates = DEFAULT) -> str:
    """Put one step into words."""
    if step == END:
        return templates.end.format()
    template = templates.inverse if step.inverse else templates.step
    return template.format(relation=name(step.relation, labels))


def path_text(path: Path | RankedPath, labels: Mapping[str, str], templates: Templates = DEFAULT) -> str:
    """Put a path into words; a ranked path begins with the entity that it starts from."""
    if isinstance(path, RankedPath):
        start = name(path.entity, labels)
        text = path_text(path.steps, labels, templates)
        return templates.path.format(start=start, steps=text) if text else start
    return templates.path_separator.format().join(step_text(step, labels, templates) for step in path)


def triple_text(
    triple: Triple,
    labels: Mapping[str, str],
    templates: Templates = DEFAULT,
    qualifiers: tuple[Qualifier, ...] = (),
) -> str:
    """Put one triple, with the qualifiers of its statement, into words on one line."""
    text = templates.triple.format(
        subject=name(triple.subject, labels),
        relation=name(triple.relation, labels),
        object=name(triple.object, labels),
    )
    if not qualifiers:
        return text
    parts = [templates.qualifier.format(relation=name(r, labels), value=name(v, labels)) for r, v in qualifiers]
    return templates.qualifiers.format(triple=text, qualifiers=templates.qualifier_separator.format().join(parts))


def _blocks(subgraph: Subgraph, labels: Mapping[str, str], templates: Templates, paths: bool) -> Iterator[list[str]]:
    """Yield the lines that each triple adds; a path's own line comes with the first triple that it led to."""
    shown: set[int] = set()
    for i, triple in enumerate(subgraph.triples):
        lines = []
        rank = subgraph.path_of[i] if i < len(subgraph.path_of) else -1
        if paths and 0 <= rank < len(subgraph.paths) and rank not in shown:
            shown.add(rank)
            lines.append(path_text(subgraph.paths[rank], labels, templates))
        qualifiers = subgraph.qualifiers[i] if i < len(subgraph.qualifiers) else ()
        yield [*lines, triple_text(triple, labels, templates, qualifiers)]


def subgraph_lines(
    subgraph: Subgraph, labels: Mapping[str, str], templates: Templates = DEFAULT, paths: bool = False
) -> list[str]:
    """Write one line for each triple, best first; with ``paths`` also one before a path's first triple."""
    return [line for block in _blocks(subgraph, labels, templates, paths) for line in block]


def subgraph_text(
    subgraph: Subgraph,
    labels: Mapping[str, str],
    tokens: int | None,
    count: Count = count_tokens,
    templates: Templates = DEFAULT,
    paths: bool = False,
) -> str:
    """Put a subgraph into words, best triples first, in at most ``tokens`` tokens (None: all of it).

    What is shown is always the first so many triples; a line is never cut in the middle.
    """
    return fit(subgraph, labels, tokens, count, templates, paths)[0]


def within_tokens(
    subgraph: Subgraph, labels: Mapping[str, str], tokens: int | None, count: Count = count_tokens
) -> Subgraph:
    """Keep the longest prefix of triples whose text fits; the rest is counted in ``trace["cut"]["tokens"]``."""
    return subgraph.first(fit(subgraph, labels, tokens, count)[1], "tokens")


def subgraph_tokens(subgraph: Subgraph, labels: Mapping[str, str], count: Count = count_tokens) -> int:
    """Count the tokens of a subgraph's whole text."""
    return count(subgraph_text(subgraph, labels, None))


def fit(
    subgraph: Subgraph,
    labels: Mapping[str, str],
    tokens: int | None,
    count: Count = count_tokens,
    templates: Templates = DEFAULT,
    paths: bool = False,
) -> tuple[str, int]:
    """Return the text of the longest prefix of triples that fits, and how many triples it holds.

    A tokenizer counts a text differently from the sum of its lines, so whole prefixes are counted: twice as
    many triples each time until one is too long, then halving. Counts are taken to grow with the text.
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

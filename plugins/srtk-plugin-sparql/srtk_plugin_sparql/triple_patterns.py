"""Triples that match patterns, and degrees of nodes."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from srtk_framework.values import DriverError, Literal, Pattern, Step, Triple
from srtk_plugin_sparql import terms
from srtk_plugin_sparql.step_reader import StepReader


def match(reader: StepReader, patterns: Sequence[Pattern]) -> list[list[Triple]]:
    """Answer each pattern, sorted; both ends bound are asked for directly, one end through its steps."""
    for pattern in patterns:
        if pattern.subject is None and pattern.object is None:
            raise DriverError(f"{pattern} binds neither subject nor object; bind at least one of them")
    reader.forget()
    between = _between(reader, patterns)
    around = _around(reader, patterns)
    literal = _with_literals(reader, patterns)
    found = []
    for pattern in patterns:
        subject, relation, object_ = pattern
        if subject is not None and object_ is not None:
            triples = [Triple(subject, name, object_) for name in between.get((subject, object_), ())]
        elif subject is None and isinstance(object_, Literal):
            triples = literal.get(object_, [])
        elif subject is not None:
            triples = [Triple(subject, step.relation, end) for step, end in around.get((subject, False, relation), ())]
        else:
            node = str(object_)
            triples = [Triple(end, step.relation, node) for step, end in around.get((node, True, relation), ())]
        found.append(sorted(triple for triple in triples if relation in (None, triple.relation)))
    return found


def _between(reader: StepReader, patterns: Sequence[Pattern]) -> dict[tuple[str, str], list[str]]:
    """Read the relations from subjects to objects; where all neighbours of one are in memory, nothing is asked."""
    written: dict[tuple[str, str], tuple[str, str]] = {}
    direct: dict[tuple[str, str], list[str]] = {}
    for subject, _, object_ in patterns:
        if subject is None or object_ is None:
            continue
        if isinstance(object_, Literal):
            # A store may write a literal in another way than it was given, so that its steps are read instead.
            reader.load([subject], inverse=False)
            steps = [Step(name) for name in reader.counts(subject, False)]
            near = reader.neighbours([(subject, step) for step in steps])
            direct[subject, object_] = [step.relation for step in steps if object_ in near[subject, step].ends]
            continue
        if (read := reader.between(subject, object_)) is not None:
            direct[subject, object_] = read
            continue
        pair = reader.ids.iri(subject), reader.ids.iri(object_)
        if pair[0] is not None and pair[1] is not None and subject in reader.exist([subject]):
            written[pair[0], pair[1]] = (subject, object_)
    rows = reader.ask_all(written, reader.queries.between, "?n ?p ?o") if written else []
    for row in rows:
        relation = reader.relation_of(row)
        if not reader.ids.is_hidden(relation):
            ends = written.get((row["n"].value, row["o"].value))
            if ends is None:
                raise row.malformed("a row of the answer is about nodes that the query does not name")
            direct.setdefault(ends, []).append(relation)
    return direct


def _around(
    reader: StepReader, patterns: Sequence[Pattern]
) -> dict[tuple[str, bool, str | None], list[tuple[Step, str]]]:
    """Read the neighbours of the bound ends of patterns with a single bound end."""
    asked: dict[tuple[str, bool, str | None], None] = {}
    for subject, relation, object_ in patterns:
        if (subject is None) != (object_ is None) and not isinstance(object_, Literal):
            asked[str(object_ if subject is None else subject), subject is None, relation] = None
    for inverse in (False, True):
        reader.load((node for node, back, _ in asked if back == inverse), inverse)
    pairs = {
        key: [
            (key[0], Step(name, key[1])) for name in reader.counts(key[0], key[1]) if key[2] is None or key[2] == name
        ]
        for key in asked
    }
    ends = reader.neighbours(pair for row in pairs.values() for pair in row)
    return {key: [(pair[1], end) for pair in row for end in ends[pair].ends] for key, row in pairs.items()}


def _with_literals(reader: StepReader, patterns: Sequence[Pattern]) -> dict[Literal, list[Triple]]:
    """Read the subjects and relations of the literals of patterns without a subject."""
    # A store may write a literal in another way than it was given: its number stands for it.
    asked: list[tuple[int, str]] = []
    literals = list(dict.fromkeys(p.object for p in patterns if p.subject is None and isinstance(p.object, Literal)))
    for number, literal in enumerate(literals):
        with contextlib.suppress(ValueError):
            asked.append((number, terms.literal(literal)))
    found: dict[Literal, list[Triple]] = {}
    for row in reader.ask_all(asked, reader.queries.with_literals, "?i ?n ?p"):
        number, relation = row.number("i"), reader.relation_of(row)
        if number >= len(literals):
            raise row.malformed("a row of the answer is about a literal that the query does not name")
        if not reader.ids.is_hidden(relation):
            literal = literals[number]
            found.setdefault(literal, []).append(Triple(reader.ids.short(row["n"].value), relation, literal))
    return found


def degrees(reader: StepReader, ids: Sequence[str]) -> list[int]:
    """Add the counts of both directions; a triple from a node to itself counts once."""
    reader.forget()
    known = reader.exist(id_ for id_ in ids if not isinstance(id_, Literal))
    reader.load(known_ := sorted(known), inverse=True)
    counts = {id_: sum(reader.counts(id_, False).values()) + sum(reader.counts(id_, True).values()) for id_ in known_}
    iris = {iri: id_ for id_ in known_ if (iri := reader.ids.iri(id_)) is not None}
    both = [iri for iri, id_ in iris.items() if reader.counts(id_, False).keys() & reader.counts(id_, True).keys()]
    for row in reader.ask_all(both, reader.queries.loops, "?n ?p") if both else []:
        node = iris.get(row["n"].value)
        if node is None:
            raise row.malformed("a row of the answer is about a node that the query does not name")
        if not reader.ids.is_hidden(reader.relation_of(row)):
            counts[node] -= 1
    return [0 if isinstance(id_, Literal) else counts.get(id_, 0) for id_ in ids]

"""A parser of SPARQL queries: the head and the triple patterns, one set for each choice among UNIONs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product

from srtk_framework.values import Literal, Path, Step, Triple

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_PREFIXES = {
    "bd": "http://www.bigdata.com/rdf#",
    "dbc": "http://dbpedia.org/resource/Category:",
    "dbo": "http://dbpedia.org/ontology/",
    "dbp": "http://dbpedia.org/property/",
    "dbr": "http://dbpedia.org/resource/",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "ns": "http://rdf.freebase.com/ns/",
    "p": "http://www.wikidata.org/prop/",
    "pq": "http://www.wikidata.org/prop/qualifier/",
    "ps": "http://www.wikidata.org/prop/statement/",
    "psv": "http://www.wikidata.org/prop/statement/value/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "wikibase": "http://wikiba.se/ontology#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "yago": "http://dbpedia.org/class/yago/",
}
_TOKEN = re.compile(
    r"""\s+ | \#[^\n]*
    | (?P<iri><[^<>\s]*>)
    | (?P<string>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')
    | (?P<variable>[?$]\w+)
    | (?P<blank>_:\w+)
    | (?P<tag>@[A-Za-z][A-Za-z0-9-]*)
    | (?P<number>[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w:])
    | (?P<name>[A-Za-z_][\w-]*)?(?P<colon>:)(?P<local>(?:[\w:%-]|\\.|\.(?=\w))*)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<mark>\^\^|&&|\|\||[!<>]?=|.)""",
    re.VERBOSE | re.DOTALL,
)
REPEATED = "*"  # Prefix of a relation that may repeat any number of times.
_MOST = 16  # Maximum number of combinations of the branches of UNIONs.


class NotUnderstood(Exception):
    """The query uses a construct that the parser does not support."""


class Parser:
    """A recursive-descent parser of one query.

    Attributes:
        seen: Triple patterns read so far, of all branches.
        at: Index of the next token.
    """

    def __init__(self, text: str) -> None:
        self.prefixes: Mapping[str, str] = dict(_PREFIXES)
        self.seen: list[Triple] = []
        self.tokens = [m for m in _TOKEN.finditer(text) if m.lastgroup]
        self.at = 0
        self.fresh = 0

    def word(self) -> str:
        """Return the next token, keywords in upper case, without consuming it; empty at the end."""
        if self.at >= len(self.tokens):
            return ""
        token = self.tokens[self.at]
        return token.group().upper() if token.lastgroup == "word" else token.group()

    def next(self) -> re.Match[str]:
        """Consume the next token."""
        if self.at >= len(self.tokens):
            raise NotUnderstood
        self.at += 1
        return self.tokens[self.at - 1]

    def head(self) -> tuple[str, str | None]:
        """Parse the query before its pattern; return the form and the answer variable."""
        form, prefixes = "select", dict(_PREFIXES)
        variables: list[str] = []
        while self.word() not in ("", "{"):
            token = self.next()
            word = token.group().upper()
            if word == "PREFIX" and self.at + 1 < len(self.tokens):
                name = self.next().group().rstrip(":")
                prefixes[name] = self.next().group()[1:-1]
            elif word == "ASK" or (word == "COUNT" and not variables):
                form = word.lower()
            elif token.lastgroup == "variable":
                variables.append(token.group().replace("$", "?"))
        self.prefixes = prefixes
        return form, variables[0] if variables and form != "ask" else None

    def iris(self, start: int) -> list[str]:
        """Return all IRIs from token ``start`` on, except those in FILTERs."""
        self.at = start
        found: list[str] = []
        while self.word():
            if self.word() == "FILTER":
                self.next()
                try:
                    self.skip_clause()
                except NotUnderstood:
                    return found
                continue
            token = self.next()
            if token.lastgroup == "iri":
                found.append(token.group()[1:-1])
            elif token.lastgroup == "local" and (token["name"] or "") in self.prefixes:
                found.append(self.prefixes[token["name"] or ""] + token["local"])
        return found

    def skip(self, opening: str, closing: str) -> None:
        """Skip a bracketed part, which starts at the next token."""
        depth = 0
        while True:
            mark = self.next().group()
            depth += (mark == opening) - (mark == closing)
            if depth == 0:
                return

    def group(self) -> list[list[Triple]]:
        """Parse ``{ ... }`` and return its branches."""
        if self.next().group() != "{":
            raise NotUnderstood
        branches: list[list[Triple]] = [[]]
        while (word := self.word()) != "}":
            if word == "{":
                found = self.group()
                while self.word() == "UNION":
                    self.next()
                    found = found + self.group()
                branches = [left + right for left, right in product(branches, found)]
                if len(branches) > _MOST:
                    raise NotUnderstood
            elif word in ("FILTER", "OPTIONAL", "MINUS", "BIND", "VALUES", "SERVICE"):
                self.next()
                self.skip_clause()
            elif word == ".":
                self.next()
            elif word in ("", "SELECT", "GRAPH"):
                raise NotUnderstood
            else:
                triples = self.triples()
                branches = [branch + triples for branch in branches]
        self.next()
        return branches

    def skip_clause(self) -> None:
        """Skip the rest of a clause: tokens up to its bracket, and the bracketed part."""
        while self.word() not in ("(", "{"):
            if self.word() in ("", "}"):
                raise NotUnderstood
            self.next()
        values = self.word() == "("
        self.skip(*(("(", ")") if values else ("{", "}")))
        if values and self.word() == "{":
            self.skip("{", "}")

    def triples(self) -> list[Triple]:
        """Parse a subject with its relations and objects."""
        found: list[Triple] = []
        subject = self.term()
        while True:
            path = self.path()
            while True:
                found += self.expand(subject, path, self.term())
                if self.word() != ",":
                    break
                self.next()
            while self.word() == ";":
                self.next()
            if self.word() in (".", "}", "{", "", "FILTER", "OPTIONAL", "MINUS", "BIND", "VALUES", "SERVICE"):
                self.seen += found
                return found

    def expand(self, subject: str, path: Path, object_: str) -> list[Triple]:
        """Expand a path to triple patterns over new variables."""
        nodes = [subject]
        for _ in path[1:]:
            self.fresh += 1
            nodes.append(f"?.{self.fresh}")
        nodes.append(object_)
        return [
            Triple(far, step.relation, near) if step.inverse else Triple(near, step.relation, far)
            for near, step, far in zip(nodes, path, nodes[1:], strict=False)
        ]

    def path(self) -> Path:
        """Parse a relation, or a path of relations with `/` and `^`."""
        steps: list[Step] = []
        while True:
            inverse = self.word() == "^"
            if inverse:
                self.next()
            relation = TYPE if self.word() == "A" else None
            if relation:
                self.next()
            else:
                relation = self.term()
            if not relation.startswith("http"):
                raise NotUnderstood
            if self.word() in ("*", "+"):
                self.next()
                relation = REPEATED + relation
            steps.append(Step(relation, inverse))
            if self.word() in ("|", "?", "(", ")"):
                raise NotUnderstood
            if self.word() != "/":
                return tuple(steps)
            self.next()

    def term(self) -> str:
        """Parse a variable, an IRI or a literal."""
        token = self.next()
        kind = token.lastgroup
        if kind == "iri":
            return token.group()[1:-1]
        if kind == "variable":
            return token.group().replace("$", "?")
        if kind == "blank":
            return token.group()
        if kind == "local":
            space = self.prefixes.get(token["name"] or "")
            if space is None:
                raise NotUnderstood
            return space + token["local"].replace("\\", "")
        if kind == "number":
            return Literal.make(token.group(), "xsd:decimal" if "." in token.group() else "xsd:integer")
        if kind == "string":
            return self.literal(token.group()[1:-1])
        raise NotUnderstood

    def literal(self, lexical: str) -> Literal:
        """Parse the language tag or the datatype after a string."""
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        if token and token.lastgroup == "tag":
            self.next()
            return Literal.make(lexical, language=token.group()[1:])
        if token and token.group() == "^^":
            self.next()
            return Literal.make(lexical, self.term())
        return Literal.make(lexical)

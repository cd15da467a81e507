"""The formats of input files: the one table that detection, readers, flags and messages use."""

from __future__ import annotations

import attrs

RDF, GRAPH, TABLE, CONTAINER = "rdf", "graph", "table", "container"


@attrs.frozen
class Format:
    """A format of input files.

    Attributes:
        family: RDF, GRAPH (nodes and edges with properties), TABLE, or CONTAINER (of tables).
        endings: Endings of file names.
        spoken: Its name, as people write it.
        parser: Its name in pyoxigraph, for RDF.
        includes: Formats whose files are files of this format as well.
        synonyms: Further names for ``--format``.
        root: Root element of its XML, in small letters.
        by_line: Whether each line is a triple, without relative IRIs.
        graphs: Whether a triple may be in a named graph.
    """

    family: str
    endings: tuple[str, ...]
    spoken: str = ""
    parser: str = ""
    includes: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    root: str = ""
    by_line: bool = False
    graphs: bool = False


FORMATS = {
    "ntriples": Format(RDF, (".nt",), "N-Triples", "N_TRIPLES", synonyms=("nt",), by_line=True),
    "nquads": Format(RDF, (".nq",), "N-Quads", "N_QUADS", ("ntriples",), ("nq",), by_line=True, graphs=True),
    "turtle": Format(RDF, (".ttl", ".n3"), "Turtle", "TURTLE", ("ntriples",), ("ttl",)),
    "trig": Format(RDF, (".trig",), "TriG", "TRIG", ("ntriples", "turtle"), graphs=True),
    "rdfxml": Format(
        RDF, (".rdf", ".owl", ".xml"), "RDF/XML", "RDF_XML", synonyms=("rdf", "rdf/xml", "xml"), root="rdf"
    ),
    "jsonld": Format(RDF, (".jsonld",), "JSON-LD", "JSON_LD", synonyms=("json-ld",), graphs=True),
    "graphml": Format(GRAPH, (".graphml",), "GraphML", root="graphml"),
    "gexf": Format(GRAPH, (".gexf",), "GEXF", root="gexf"),
    "tsv": Format(TABLE, (".tsv", ".tab", ".txt")),
    "csv": Format(TABLE, (".csv",)),
    "parquet": Format(TABLE, (".parquet", ".pq"), "Parquet"),
    "json": Format(CONTAINER, (".json", ".jsonl", ".ndjson"), "JSON", synonyms=("jsonl", "ndjson")),
    "xlsx": Format(CONTAINER, (".xlsx", ".xlsm"), "an Excel workbook"),
    "sqlite": Format(CONTAINER, (".sqlite", ".sqlite3", ".db"), "an SQLite database"),
}


def family(kind: str) -> str:
    """Return the family of a format; empty for the files of a tool, which are none of these."""
    return FORMATS[kind].family if kind in FORMATS else ""

"""Corpora: documents of files, entities and triples of a graph."""

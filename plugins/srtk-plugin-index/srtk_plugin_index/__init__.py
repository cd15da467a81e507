"""Indexes over documents, entities and triples, the corpora they are built from, and an expander that reads them."""

"""Indexes in folders: BM25 over words, and exact search over vectors."""

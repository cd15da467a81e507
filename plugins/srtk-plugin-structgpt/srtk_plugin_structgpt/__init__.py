"""Iterative expanders that a generator leads (StructGPT, Think-on-Graph), a reader, and an encoder as generator."""

"""Baseline expanders, which do not read the text of the question."""

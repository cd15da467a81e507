"""Expanders that never read the question: what every method must beat."""

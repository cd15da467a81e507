"""Baselines: expanders that do not read the question, and a completer that does not look at the entity."""

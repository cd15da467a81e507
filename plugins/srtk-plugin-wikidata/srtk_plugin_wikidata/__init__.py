"""Wikidata, or another Wikibase, as a knowledge graph."""

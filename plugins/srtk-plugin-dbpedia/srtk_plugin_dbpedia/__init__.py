"""DBpedia as a knowledge graph."""

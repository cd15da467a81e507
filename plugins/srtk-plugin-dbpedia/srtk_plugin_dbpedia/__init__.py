"""DBpedia as a knowledge graph, and DBpedia Spotlight as a linker."""

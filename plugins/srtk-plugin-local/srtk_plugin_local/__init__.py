"""The embedded graph, the graph of Python triples, and the dictionary linker."""

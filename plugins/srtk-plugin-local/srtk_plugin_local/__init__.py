"""The local graph, the graph of Python triples, the dictionary linker, mention detectors and linker views."""

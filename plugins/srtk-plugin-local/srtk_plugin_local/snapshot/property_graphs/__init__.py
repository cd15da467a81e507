"""Graphs whose nodes and edges have properties: GraphML, GEXF and networkx."""

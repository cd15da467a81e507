"""Freebase as a knowledge graph, and graphs whose mediator nodes are walked as one step."""

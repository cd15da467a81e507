"""A reader that learns from answers: a small graph network over the retrieved subgraph."""

"""Path patterns for srtk-framework: paths mined from a graph, rules, and completers and scorers that use them."""

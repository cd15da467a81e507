"""KnowlyBERT (Kalo et al. 2020): a masked language model fills what a graph lacks into sentences of its relations."""

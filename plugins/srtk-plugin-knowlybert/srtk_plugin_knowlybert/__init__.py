"""KnowlyBERT (Kalo et al. 2020): a masked language model completes sentences of a graph's relations."""

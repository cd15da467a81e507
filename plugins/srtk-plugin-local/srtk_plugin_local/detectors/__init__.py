"""Mention detectors without a model: by form, by the names of a graph or of a file, and unions of detectors."""

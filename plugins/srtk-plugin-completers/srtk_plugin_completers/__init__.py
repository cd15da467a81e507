"""Completers of srtk-framework that hold completers: calibrated, joined, and a choice for each pattern."""

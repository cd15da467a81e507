"""Runs of srtk-framework on a Ray cluster."""

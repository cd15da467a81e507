"""Subcommands of ``srtk index``."""

"""Subcommands of ``srtk``."""

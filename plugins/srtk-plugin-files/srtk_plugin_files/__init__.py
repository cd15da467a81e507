"""Exporters that write files: JSON Lines, text for prompts, and one self-contained HTML page."""

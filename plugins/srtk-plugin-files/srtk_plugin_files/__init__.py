"""Exporters to files: JSON Lines, text for prompts, and a self-contained HTML page."""

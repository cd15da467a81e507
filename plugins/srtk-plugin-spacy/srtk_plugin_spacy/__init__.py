"""Mention detection by spaCy models."""

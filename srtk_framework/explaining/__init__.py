"""Explanations: where the answers of a question were lost, and which setting to change."""

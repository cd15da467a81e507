"""Linkers that hold linkers: a union, a fallback, and a mapping of ids."""

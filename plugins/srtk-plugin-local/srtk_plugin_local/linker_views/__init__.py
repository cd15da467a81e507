"""Linkers that hold linkers: several as one, one after the other, and ids of another graph."""

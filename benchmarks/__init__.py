"""Benchmarks by topic: each is run as ``python -m benchmarks.ROOM.NAME`` in the root of the repository."""

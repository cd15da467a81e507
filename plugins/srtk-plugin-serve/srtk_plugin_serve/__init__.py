"""A session as an HTTP service: questions, links, neighbours, paths, explanations, and a chat that cites the graph."""

from __future__ import annotations

from srtk_plugin_serve.service import Access, service

__all__ = ["Access", "service"]

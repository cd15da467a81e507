"""A session as a server of the Model Context Protocol."""

from __future__ import annotations

from srtk_plugin_mcp.server import mcp_server

__all__ = ["mcp_server"]

"""The polite HTTP client that every plugin shares."""

from __future__ import annotations

from srtk_framework.web.rate_limit import Breaker, Gate, TokenBucket

__all__ = [
    "Breaker",
    "Gate",
    "TokenBucket",
]

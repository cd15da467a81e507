"""Versions on which results depend: of the framework, shared by its plugins, and of libraries."""

from __future__ import annotations

import sys

__version__ = "0.1.0"

_LIBRARIES = ("numpy", "scipy", "torch", "transformers", "tokenizers", "onnxruntime", "lightning")


def libraries() -> dict[str, str]:
    """Return the versions of loaded libraries that can change a float."""
    modules = {name: sys.modules.get(name) for name in _LIBRARIES}
    return {name: str(getattr(module, "__version__", "?")) for name, module in modules.items() if module is not None}

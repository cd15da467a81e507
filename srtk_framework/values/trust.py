"""Files that can run code are used only where the user allows their kind; a recipe alone cannot.

The variable ``SRTK_TRUST`` of the environment lists the allowed kinds, separated by commas. A recipe may come from a
stranger, so what stands in it does not count. SECURITY.md at the top of the repository says which files are safe.
"""

from __future__ import annotations

import os
from typing import Literal

TRUST = "SRTK_TRUST"
"""Variable of the environment with the allowed kinds."""

Kind = Literal["remote-code", "unsafe-weights", "qdrant-folder"]
"""Python code in a model's folder, pickled weights, Qdrant's pickled points."""


def refusal(kind: Kind, what: str) -> str | None:
    """Return why something that can run code is not used; None if the user allows its kind.

    Args:
        kind: What is to be allowed.
        what: Setting or file, for the sentence.
    """
    given = [one.strip() for one in os.environ.get(TRUST, "").split(",")]
    if kind in given:
        return None
    return (
        f"{what} can run code of whoever made it, and a recipe alone cannot allow that; if you trust it, set the"
        f" environment variable {TRUST}={','.join([*filter(None, given), kind])}"
    )

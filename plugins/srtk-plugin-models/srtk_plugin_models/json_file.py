"""A JSON file of a model's folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from srtk_framework.values import DriverError


def read_json(path: Path) -> Any:
    """Read a JSON file of a model folder.

    Raises:
        DriverError: If it is not valid JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))  # configurations of some models hold infinities
    except (ValueError, RecursionError) as error:
        raise DriverError(f"{path} is not valid JSON ({error}); fetch the model again") from error

"""The packages that only training needs: searching does without them, so that an installation can be light."""

from __future__ import annotations

from importlib.util import find_spec

from srtk_framework.values import DriverError

_PACKAGES = ("lightning", "torch")


def require_training_packages() -> None:
    """Tell what to install, before any work is done.

    Raises:
        DriverError: If a package is missing.
    """
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise DriverError(
            f"training needs {' and '.join(missing)}, which searching does without;"
            " run: pip install 'srtk-plugin-sr[train]'"
        )

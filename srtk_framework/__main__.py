"""``python -m srtk_framework``: the command ``srtk``."""

from __future__ import annotations

import sys

from srtk_framework.cli import main

if __name__ == "__main__":
    sys.exit(main())

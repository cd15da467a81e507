"""Drivers that each break one rule, to prove that each check of the kit catches something, and alone.

A module for each role has ``GOOD``, a class that passes all, and ``FAULTS``.
"""

from srtk_framework.testing.broken.rules import Fault

__all__ = ["Fault"]

"""Drivers that each break one rule, to prove that each check of the kit catches something, and alone.

A module for each role has ``GOOD``, a class that passes all checks, ``FAULTS``, made from it, and ``Checked``, the
conformance class that tests them.
"""

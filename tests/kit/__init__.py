"""What tests of several rooms share: drivers that each break one rule, and commands that are killed part-way.

A module for each role has ``GOOD``, a class that passes all checks, ``FAULTS``, made from it, and ``Checked``, the
conformance class that tests them: each check of the kit catches something, and alone. ``kills`` runs a command again
and again, killed at one call that changes files after the other.
"""

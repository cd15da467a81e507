"""The commands ``srtk patterns mine`` and ``srtk patterns show``."""

"""The commands ``srtk graph build`` and ``srtk graph info``."""

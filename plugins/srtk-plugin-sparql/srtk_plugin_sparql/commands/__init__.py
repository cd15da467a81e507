"""The command ``srtk graph load``."""

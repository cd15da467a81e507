"""Embedding completer for srtk-framework: ComplEx, RotatE and HolE."""

"""Commands of this plugin: ``srtk dataset graph``."""

"""Commands of this plugin: ``srtk datasets list``, ``fetch`` and ``graph``."""

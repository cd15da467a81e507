"""The version of the framework, which all its plugins share."""

__version__ = "0.1.0"

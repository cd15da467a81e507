"""A generator that runs GGUF files in process."""

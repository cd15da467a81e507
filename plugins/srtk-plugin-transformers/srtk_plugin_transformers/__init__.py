"""Text encoder on Hugging Face models for srtk-framework."""

"""A generator for srtk-framework over any server that speaks the OpenAI chat protocol."""

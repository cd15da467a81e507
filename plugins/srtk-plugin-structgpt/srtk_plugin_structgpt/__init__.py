"""A language model walks the graph: StructGPT, Think-on-Graph, a reader, and a chooser without a language model."""

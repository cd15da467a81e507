"""SEPTA for srtk-framework: subgraphs and texts in one space of vectors."""

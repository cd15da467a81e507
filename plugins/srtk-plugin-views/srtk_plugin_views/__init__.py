"""Views for srtk-framework: graphs that hold graphs, and linkers that hold linkers."""

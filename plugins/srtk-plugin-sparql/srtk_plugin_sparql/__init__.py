"""SPARQL endpoints and embedded Oxigraph stores as knowledge graphs."""

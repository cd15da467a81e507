"""REL, TagMe and WAT as entity linkers, and Wikipedia titles to Wikidata ids."""

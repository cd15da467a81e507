"""Public question sets as questions with answers, gold paths and gold triples."""

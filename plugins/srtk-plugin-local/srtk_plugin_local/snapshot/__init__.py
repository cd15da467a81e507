"""The memory-mapped graph: its build, layout, lookups and traversal."""

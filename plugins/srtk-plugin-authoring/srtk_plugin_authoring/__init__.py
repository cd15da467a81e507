"""What authors of plugins and recipes use: new plugins, and the JSON Schema of recipes."""

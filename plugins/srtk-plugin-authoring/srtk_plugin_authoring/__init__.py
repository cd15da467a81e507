"""For authors of plugins and recipes: new plugins, and the JSON Schema of recipes."""

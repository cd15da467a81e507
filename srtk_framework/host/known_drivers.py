"""Which distribution brings which driver, so that a recipe that lacks a plugin can be told what to install."""

from __future__ import annotations

DRIVERS: dict[str, dict[str, tuple[str, ...]]] = {
    "srtk-plugin-baselines": {"expander": ("bfs", "ppr", "random")},
    "srtk-plugin-datasets": {
        "dataset": (
            "cwq",
            "elevant",
            "gtsqa",
            "jsonl",
            "lcquad1",
            "metaqa",
            "mintaka",
            "pathquestion",
            "qald",
            "rog",
            "simplequestions",
            "wc2014",
            "webqsp",
        )
    },
    "srtk-plugin-dbpedia": {"entity_linker": ("spotlight",), "knowledge_graph": ("dbpedia",)},
    "srtk-plugin-files": {"exporter": ("html", "jsonl", "text")},
    "srtk-plugin-freebase": {"knowledge_graph": ("freebase", "mediated")},
    "srtk-plugin-llama-cpp": {"generator": ("llama-cpp",)},
    "srtk-plugin-local": {
        "entity_linker": ("dictionary", "fallback", "id-map", "union"),
        "knowledge_graph": ("local", "memory"),
        "mention_detector": ("capitals", "names", "ngrams", "union"),
    },
    "srtk-plugin-openai": {"generator": ("openai",)},
    "srtk-plugin-rel": {"entity_linker": ("rel", "tagme", "wat", "wikipedia-map")},
    "srtk-plugin-spacy": {"mention_detector": ("spacy",)},
    "srtk-plugin-sparql": {"knowledge_graph": ("collect", "sparql")},
    "srtk-plugin-sr": {
        "expander": ("beam", "rerank"),
        "path_scorer": ("dense",),
        "supervision": ("gold-path", "gold-triples", "near-shortest", "shortest-path"),
    },
    "srtk-plugin-structgpt": {
        "expander": ("structgpt", "tog"),
        "generator": ("encoder-chooser",),
        "reader": ("llm",),
    },
    "srtk-plugin-transformers": {"encoder": ("transformers",), "generator": ("transformers",)},
    "srtk-plugin-wikidata": {"entity_linker": ("wikidata-search",), "knowledge_graph": ("wikidata",)},
}
"""Distribution to role to names of its drivers; a test compares this with the plugins' entry points."""


def distribution_of(role: str, name: str) -> str | None:
    """Return the distribution that brings a driver, or None for drivers of others."""
    return next((dist for dist, roles in DRIVERS.items() if name in roles.get(role, ())), None)

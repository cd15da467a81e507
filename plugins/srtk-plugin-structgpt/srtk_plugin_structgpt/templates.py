"""Prompt templates: YAML files with a version, the text that fills them, and the trace record of a call."""

from __future__ import annotations

import hashlib
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import name, read_yaml, triple_text
from srtk_framework.values import InputError, Message, Prompt, Reply, Triple, close_matches, shortened
from srtk_plugin_structgpt.graph_text import delimited, harmless_labels
from srtk_plugin_structgpt.option_choice import numbered

CountTokens = Callable[[Sequence[str]], Sequence[int]]
"""Counts the tokens of each text, as ``Generator.count_tokens`` does."""

PLACEHOLDERS: Mapping[str, tuple[str, ...]] = {
    "first-relations": ("question", "topics", "options", "most"),
    "next-relations": ("question", "topics", "options", "most", "history", "here"),
    "entities": ("question", "topics", "options", "most"),
    "constraints": ("question", "topics", "options", "history", "count"),
    "answer": ("question", "triples"),
    "answer-with-hint": ("question", "triples", "hint"),
    "option": ("question", "triples", "options"),
    "support": ("question", "answer", "options"),
    "closed-book": ("question",),
}
"""The placeholders of each template, by the template's name."""

# Templates of the reader ``llm``; the second one where another reader gave a hint.
READER_TEMPLATES = ("answer", "answer-with-hint")

OPTION_TEMPLATES = ("option",)  # Templates of the reader ``options-llm``

_OF_READERS = (*READER_TEMPLATES, *OPTION_TEMPLATES)

# Templates of every expander; ``tog`` has ``entities`` as well.
SEARCH_TEMPLATES = tuple(name for name in PLACEHOLDERS if name not in (*_OF_READERS, "entities"))

_BLOCKS = ("triples", "options")
# Placeholders filled with text from the graph, which ``Template.prompt`` delimits.
_WITHIN_LINES = ("topics", "here", "history", "answer", "hint")

_REQUIRED = ("question", "options", "triples", "hint")  # Placeholders that a template must contain if its name has them

_KEYS = ("version", "system", "user")

_MOST_NAMES = 10  # Most nodes named in one place of a prompt


@attrs.frozen
class Template:
    """The wording of one prompt.

    Attributes:
        name: Name of the template, a key of ``PLACEHOLDERS``.
        version: Version of the wording; recorded in traces.
        system: System message with placeholders in braces; empty for none.
        user: User message with placeholders in braces.
    """

    name: str
    version: str
    system: str
    user: str

    def prompt(self, values: Mapping[str, str], **fields: Any) -> Prompt:
        """Fill in the placeholders, with text from the graph between delimiters.

        Values without a placeholder in the wording are ignored. Text from the graph must be harmless
        (``graph_text.harmless``). Further fields of the prompt, such as ``schema``, may follow.
        """
        filled = {key: self._delimited(key, text) for key, text in values.items()}
        user = Message("user", self.user.format(**filled).strip())
        system = self.system.format(**filled).strip()
        return Prompt(messages=(Message("system", system), user) if system else (user,), **fields)

    def _delimited(self, placeholder: str, text: str) -> str:
        if placeholder == "options" and self.name in OPTION_TEMPLATES:
            return text  # options of the question
        if placeholder in _BLOCKS or placeholder in _WITHIN_LINES:
            return delimited(text, placeholder in _BLOCKS)
        return text

    def choice_prompt(
        self, options: Sequence[str], values: Mapping[str, str], least: int, most: int, query: str
    ) -> Prompt:
        """Fill in the placeholders of a template with options; each option is one numbered line.

        A generator that compares texts compares the options with ``query``.
        """
        most = min(most, len(options))
        filled = {**values, "options": numbered(options), "most": str(most)}
        return self.prompt(filled, options=tuple(options), least=least, most=most, query=query)


def read_templates(replaced: Mapping[str, str], own: Sequence[str] = tuple(PLACEHOLDERS)) -> dict[str, Template]:
    """Read the templates of a driver.

    YAML files replace templates of this plugin by name.
    """
    for key in replaced:
        if key in PLACEHOLDERS and key not in own:
            owner = "a reader" if key in _OF_READERS else "another expander"
            raise InputError(f"the prompt {key!r} belongs to {owner}; the prompts of this driver are {', '.join(own)}")
        if key not in own:
            raise InputError(
                f"there is no prompt {key!r}; the prompts are {', '.join(own)}.{close_matches(key, list(own))}"
            )
    return {key: _read(key, replaced.get(key)) for key in own}


def digest(replaced: Mapping[str, str], own: Sequence[str] = tuple(PLACEHOLDERS)) -> str:
    """Return a hash of the wording of a driver's templates; it does not depend on the names of files."""
    texts = "\0".join(repr(template) for template in read_templates(replaced, own).values())
    return hashlib.sha256(texts.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _read(key: str, path: str | None) -> Template:
    where = path or f"prompts/{key}.yaml"
    if path is None:
        text = resources.files(__package__).joinpath("prompts", f"{key}.yaml").read_text(encoding="utf-8")
    else:
        try:
            text = Path(path).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{where}: cannot read the prompt {key!r}: {error}") from error
    return _checked(key, read_yaml(text, where), where)


def _checked(key: str, content: Any, where: str) -> Template:
    if not isinstance(content, dict) or not {"version", "user"} <= content.keys() <= set(_KEYS):
        raise InputError(f"{where}: a prompt has the keys version and user, optionally system, and no other")
    texts = {field: content.get(field) or "" for field in ("system", "user")}
    used: set[str] = set()
    for field, text in texts.items():
        if not isinstance(text, str):
            raise InputError(f"{where}: {field} must be text, not {shortened(repr(text))}")
        used |= _placeholders(key, text, f"{where}: {field}")
    for placeholder in _REQUIRED:
        if placeholder in PLACEHOLDERS[key] and placeholder not in used:
            raise InputError(f"{where}: the prompt {key!r} must contain the placeholder {{{placeholder}}}")
    return Template(key, str(content["version"]), **texts)


def _placeholders(key: str, text: str, where: str) -> set[str]:
    try:
        fields = [(field, spec, how) for _, field, spec, how in string.Formatter().parse(text) if field is not None]
    except ValueError as error:
        raise InputError(f"{where}: {error}; write {{{{ and }}}} for braces") from error
    for field, spec, how in fields:
        if field not in PLACEHOLDERS[key] or spec or how:
            known = ", ".join(f"{{{placeholder}}}" for placeholder in PLACEHOLDERS[key])
            raise InputError(f"{where} contains {{{field}}}, but the placeholders of the prompt {key!r} are {known}")
    return {field for field, _, _ in fields}


def token_fit(count_tokens: CountTokens, rows: Sequence[Sequence[str]], tokens: int | None) -> list[int]:
    """Return how many of the first lines of each row fit, numbered, into a number of tokens.

    A tokenizer may count a text differently from the sum of its lines. So the sum gives a first guess, and lines are
    removed until the whole text fits.
    """
    if tokens is None:
        return [len(row) for row in rows]
    lines = [numbered(row).split("\n") if row else [] for row in rows]
    counts = iter(count_tokens([line + "\n" for row in lines for line in row]))
    sizes = []
    for row in lines:
        size = total = 0
        for count in [next(counts) for _ in row]:
            total += count
            if total > tokens:
                break
            size += 1
        sizes.append(size)
    while True:
        open_ = [i for i, size in enumerate(sizes) if size]
        whole = count_tokens(["\n".join(lines[i][: sizes[i]]) for i in open_])
        over = [i for i, count in zip(open_, whole, strict=True) if count > tokens]
        if not over:
            return sizes
        for i in over:
            sizes[i] -= 1


def shown_labels(graph: KnowledgeGraph, ids: Iterable[str]) -> dict[str, str]:
    """Return the harmless name of each id, for prompts, with one call to the graph."""
    distinct = sorted(set(ids))
    return harmless_labels(distinct, dict(zip(distinct, graph.labels(distinct), strict=True)))


def node_names(graph: KnowledgeGraph, rows: Sequence[Iterable[str]]) -> list[str]:
    """Name the first ten nodes of each row, and count the rest, with one call to the graph."""
    lists = [list(dict.fromkeys(row)) for row in rows]
    labels = shown_labels(graph, {id_ for row in lists for id_ in row[:_MOST_NAMES]})
    return [
        ", ".join(name(id_, labels) for id_ in row[:_MOST_NAMES])
        + (f" and {len(row) - _MOST_NAMES} more" if len(row) > _MOST_NAMES else "")
        for row in lists
    ]


def triple_lines(graph: KnowledgeGraph, rows: Sequence[Sequence[Triple]]) -> list[list[str]]:
    """Verbalise the triples of each row, with one call to the graph."""
    labels = shown_labels(graph, {id_ for row in rows for triple in row for id_ in triple})
    return [[triple_text(triple, labels) for triple in row] for row in rows]


def history_text(history: Sequence[Sequence[str]]) -> str:
    """Verbalise the options chosen at each hop."""
    return "; then ".join(" and ".join(texts) for texts in history)


def call_record(template: Template, replies: Sequence[Reply], hop: int | None = None, **fields: Any) -> dict[str, Any]:
    """Return the trace record of one call of the generator, as a JSON object without times.

    The second reply, if any, answers a repeated call after a first one that could not be parsed. ``cut`` is the
    number of replies that ended at the generator's ``length``.
    """
    record: dict[str, Any] = {"template": template.name, "version": template.version}
    if hop is not None:
        record["hop"] = hop
    for key, value in fields.items():
        record[key] = list(value) if isinstance(value, tuple) else value
    record["replies"] = [reply.text for reply in replies]
    if cut := sum(reply.finish == "length" for reply in replies):
        record["cut"] = cut
    if errors := [reply.error for reply in replies if reply.error is not None]:
        record["errors"] = errors
    return record

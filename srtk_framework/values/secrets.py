"""Secrets: how they are recognised in settings, and how they are taken out of whatever leaves the process.

A value is a secret by its name (``key``, ``api_key``, ``token``, ``password``, ``secret``, ``authorization``), under
``headers``, or as the login or a parameter of such a name in a URL. Recipes
and clients note their secrets here; every text that leaves (a message, a manifest, a traceback) passes ``redacted``.
Results do not: a triple whose text happens to equal a password stays as it is.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

MASK = "***"
"""Stands in place of a secret."""

_ENDINGS = (
    "token",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "authorization",
    "credential",
    "credentials",
    "cookie",
    *(f"{kind}key" for kind in ("api", "access", "secret", "private", "auth", "subscription", "shared", "account")),
)
_NAMES = frozenset({"key", "auth", "pwd", "pass", "apikeys", "signature", "sig"})
_PLAIN_HEADERS = frozenset(
    (
        *("accept", "acceptcharset", "acceptencoding", "acceptlanguage", "cachecontrol", "connection"),
        *("contentencoding", "contentlanguage", "contentlength", "contenttype", "from", "host", "referer", "useragent"),
    )
)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>]+")
_LOGIN = re.compile(r"(?<=://)[^\s/?#\"'<>]*@")
_PARAMETER = re.compile(r"(?<=[?&;])([^=&;#\s\"'<>]+)=([^&;#\s\"'<>]+)")
_REFERENCE = re.compile(r"\$\{\w+\}")
# Characters of a secret that give it away: a message may have cut the rest.
_WINDOW = 8

_known: set[str] = set()
_lock = threading.Lock()


def is_secret_name(name: object) -> bool:
    """Return whether the value of a setting, header or URL parameter of this name is a secret."""
    if not isinstance(name, str):
        return False
    letters = re.sub(r"[^a-z]", "", name.lower())
    return letters in _NAMES or letters.endswith(_ENDINGS)


def secrets_in(data: Any, name: object = "") -> Iterator[str]:
    """Yield the secrets in plain data, such as a recipe with its variables filled in.

    Args:
        data: Mappings, lists, texts and numbers; anything else holds no secret.
        name: Name under which the data stands.
    """
    if isinstance(data, Mapping):
        for key, value in data.items():
            if is_secret_name(name):
                yield from secrets_in(value, name)
            elif _is_headers(name):
                yield from secrets_in(value) if _is_plain_header(key) else _header_secrets(value)
            else:
                yield from secrets_in(value, key)
    elif isinstance(data, list | tuple):
        for item in data:
            yield from secrets_in(item, name)
    elif isinstance(data, str | int | float) and not isinstance(data, bool):
        if is_secret_name(name):
            yield from _header_secrets(data)
        elif isinstance(data, str):
            yield from _url_secrets(data)


def note_secrets(secrets: Iterable[str]) -> None:
    """Have ``redacted`` take these texts out from now on.

    Short words are left: taking out ``none`` would spoil messages, and no service takes it for a secret.
    """
    found = {form for secret in secrets for form in _forms(secret) if _is_telling(form)}
    with _lock:
        _known.update(found)


def without_logins(text: str) -> str:
    """Return a text whose URLs have no login and no secret parameter; the same text gives the same result."""
    if "://" in text:
        text = _LOGIN.sub(f"{MASK}@", text)
        text = _URL.sub(lambda url: _PARAMETER.sub(_masked_parameter, url[0]), text)
    return text


def redacted(text: str) -> str:
    """Return a text without the secrets that were noted, whole or in part, and without the logins of URLs."""
    text = without_logins(text)
    with _lock:
        known = tuple(_known)
    spans = sorted(span for secret in known for span in _spans(text, secret))
    if not spans:
        return text
    parts: list[str] = []
    masked_to = 0
    for begin, end in spans:
        if begin > masked_to or not parts:
            parts += [text[masked_to:begin], MASK]
        masked_to = max(masked_to, end)
    return "".join([*parts, text[masked_to:]])


def redacted_data(data: Any, name: object = "") -> Any:
    """Copy plain data without its secrets.

    Where a secret is only named, as ``${variable}`` or ``{env: NAME}``, the name stays.

    Args:
        data: Mappings, lists and scalars.
        name: Name under which the data stands.
    """
    if isinstance(data, Mapping):
        if "env" in data and set(data) <= {"env", "default"}:
            kept = {key: value for key, value in data.items() if key == "env"}
            return {**kept, **({"default": redacted_data(data["default"], name)} if "default" in data else {})}
        inner = name if is_secret_name(name) else None
        headers = _is_headers(name)
        copied: dict[Any, Any] = {}
        for key, value in data.items():
            own = inner or ("authorization" if headers and not _is_plain_header(key) else key)
            copied[redacted(key) if isinstance(key, str) else key] = redacted_data(value, own)
        return copied
    if isinstance(data, list | tuple):
        return [redacted_data(item, name) for item in data]
    if isinstance(data, bool) or data is None or data == "":
        return data
    if is_secret_name(name) and isinstance(data, str | int | float):
        return data if isinstance(data, str) and _REFERENCE.fullmatch(data) else MASK
    return redacted(data) if isinstance(data, str) else data


def secrets_in_arguments(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the secrets in a command's arguments: ``--token X``, ``--token=X``, ``key=X`` after ``--set``, URLs."""
    for before, argument in zip(("", *arguments), arguments, strict=False):
        name, equals, value = argument.partition("=")
        keys = name.split(".")
        if _is_column(before, argument):
            continue
        if before.startswith("--") and is_secret_name(before):
            yield from _header_secrets(argument)
        elif equals and (any(map(is_secret_name, keys)) or any(map(_is_headers, keys[:-1]))):
            yield from _header_secrets(value)
        else:
            yield from _url_secrets(argument)


def redacted_override(override: str) -> str:
    """Return ``key.path=value`` without a secret value."""
    path, equals, value = override.partition("=")
    if not equals:
        return redacted(override)
    keys = path.split(".")
    secret = any(is_secret_name(key) for key in keys) or any(_is_headers(key) for key in keys[:-1])
    return f"{path}={MASK}" if secret and not _REFERENCE.fullmatch(value) else redacted(override)


def redacted_arguments(arguments: Iterable[str]) -> list[str]:
    """Return the arguments of a command without secrets: ``--token X``, ``--token=X``, ``key=X`` after ``--set``."""
    shown: list[str] = []
    before = ""
    for argument in arguments:
        if _is_column(before, argument):
            shown.append(argument)
        elif before.startswith("--") and is_secret_name(before):
            shown.append(MASK)
        else:
            shown.append(redacted_override(argument))
        before = argument
    return shown


def _is_column(before: str, argument: str) -> bool:
    """Return whether an argument is the ``FILE=COLUMN`` of ``--key``, which names a table's column and no secret."""
    if argument.startswith("--key="):
        before, argument = argument.split("=", 1)
    file, _, column = argument.partition("=")
    return before == "--key" and bool(file and column.strip("="))


def _is_headers(name: object) -> bool:
    return isinstance(name, str) and name.lower().endswith("headers")


def _is_plain_header(name: object) -> bool:
    return isinstance(name, str) and re.sub(r"[^a-z]", "", name.lower()) in _PLAIN_HEADERS


def _header_secrets(value: Any) -> Iterator[str]:
    """Yield a secret, and its secret parts: the part after a scheme such as Bearer, a login in base64."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return
    text = str(value).strip()
    yield text
    scheme, _, rest = text.partition(" ")
    if rest and scheme.isalpha():
        yield rest.strip()
        if scheme.lower() == "basic":
            yield from _basic_secrets(rest.strip())
    yield from _url_secrets(text)


def _basic_secrets(coded: str) -> Iterator[str]:
    try:
        login = base64.b64decode(coded, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return
    yield login
    yield login.partition(":")[2]


def _url_secrets(text: str) -> Iterator[str]:
    """Yield the logins and the secret parameters of the URLs in a text."""
    if "://" not in text:
        return
    for url in _URL.findall(text):
        try:
            place = urlsplit(url)
            user, word = place.username, place.password
            parameters = parse_qsl(place.query)
        except ValueError:
            continue
        if user is not None:
            # A user alone is a token.
            user, word = unquote(user), None if word is None else unquote(word)
            yield user if word is None else word
            yield base64.b64encode(f"{user}:{word or ''}".encode()).decode()
        for name, value in parameters:
            if is_secret_name(name):
                yield value


def _masked_parameter(found: re.Match[str]) -> str:
    return f"{found[1]}={MASK}" if is_secret_name(unquote(found[1])) else found[0]


def _forms(secret: str) -> list[str]:
    """Return the forms that a secret may have in a text."""
    escaped = (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1])
    return [secret, *escaped, quote(secret), quote(secret, safe=""), quote_plus(secret), html.escape(secret)]


def _is_telling(secret: str) -> bool:
    return MASK not in secret and (len(secret) >= 6 or (len(secret) >= 4 and not secret.isalpha()))


def _spans(text: str, secret: str) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text that are a secret, or at least ``_WINDOW`` characters of it."""
    size = min(len(secret), _WINDOW)
    for window in dict.fromkeys(secret[at : at + size] for at in range(len(secret) - size + 1)):
        at = text.find(window)
        while at >= 0:
            yield at, at + size
            at = text.find(window, at + 1)

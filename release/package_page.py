"""A README as a package page shows it, where a link into the repository leads nowhere."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_ABSOLUTE = re.compile(r"(?:[a-z][a-z0-9+.-]*:|#|//)", re.IGNORECASE)
_PICTURE = re.compile(r"!\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)(?:\s+\"[^\"]*\")?\)")
_LINK = re.compile(r"(?<!!)\[(?P<text>(?:`[^`]*`|[^\[\]])*)\]\((?P<target>[^)\s]+)(?:\s+\"[^\"]*\")?\)")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")


def package_page(text: str, folder: str, repository: str) -> str:
    """Turn the relative links of a README into links to the repository, or into their text where it has no address.

    Args:
        text: Markdown with inline links and pictures.
        folder: The README's folder within the repository, with forward slashes; empty for the top.
        repository: Address of the repository on a host that serves `blob/main/` and `raw/main/`; empty if it has none.

    Returns:
        Markdown without relative links. Without an address, a link leaves its text, and a picture nothing.
    """
    lines: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        lines.append(line if fence or mark else _rewritten(line, folder, repository))
    return re.sub(r"\n{3,}", "\n\n", "".join(lines)) if not repository else "".join(lines)


def _rewritten(line: str, folder: str, repository: str) -> str:
    def picture(found: re.Match[str]) -> str:
        if _ABSOLUTE.match(found["target"]):
            return found[0]
        return f"![{found['text']}]({_address(found['target'], folder, repository, 'raw')})" if repository else ""

    def link(found: re.Match[str]) -> str:
        if _ABSOLUTE.match(found["target"]):
            return found[0]
        if not repository:
            return found["text"]
        return f"[{found['text']}]({_address(found['target'], folder, repository, 'blob')})"

    return _LINK.sub(link, _PICTURE.sub(picture, line))


def _address(target: str, folder: str, repository: str, kind: str) -> str:
    """Resolve a relative target against its folder, with `..` taken away."""
    path, hash_, part = target.partition("#")
    parts: list[str] = []
    for piece in PurePosixPath(folder, path).parts:
        if piece != "..":
            parts.append(piece)
        elif parts:
            parts.pop()
        else:
            raise ValueError(f"the link {target!r} in {folder or 'the top folder'} leads out of the repository")
    return f"{repository.rstrip('/')}/{kind}/main/{'/'.join(parts)}{hash_}{part}"

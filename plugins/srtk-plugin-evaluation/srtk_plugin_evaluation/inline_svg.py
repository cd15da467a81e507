"""SVG pictures as elements of an HTML page: ids of their own, the colours and the font of the page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_NUMBER = re.compile(r"-?\d+\.\d{3,}")  # Matplotlib writes six decimals, which no screen shows.
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_FONT = re.compile(r"'[^']*'(?:, sans-serif)?")  # Names of fonts on the machine that drew the picture.


def inline_svg(picture: bytes, prefix: str, label: str, colours: Mapping[str, str]) -> str:
    """Turn an SVG file into an element for a page of HTML.

    Args:
        picture: The file.
        prefix: Start of the element's ids, which differs from picture to picture of a page.
        label: Description for those who do not see it.
        colours: Colours of the file, in small letters, to colours of the page, such as ``var(--ink)``.

    Returns:
        One ``svg`` element without comments, metadata, style sheets and ids that nothing refers to; numbers have two
        decimals.
    """
    root = ElementTree.fromstring(picture)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{_SVG}metadata", f"{_SVG}style"):
                parent.remove(child)
    used = {value for element in root.iter() for value in _references(element)}
    colour = re.compile("|".join(map(re.escape, colours)), re.IGNORECASE)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        if element.tag != "text":
            element.text = None
        element.tail = None
        for name, value in list(element.attrib.items()):
            del element.attrib[name]
            if name == "id":
                if value in used:
                    element.set("id", prefix + value)
                continue
            if name == _HREF:
                element.set("href", f"#{prefix}{value[1:]}")
                continue
            value = _REFERENCE.sub(rf"url(#{prefix}\1)", value)
            value = colour.sub(lambda found: colours[found[0].lower()], " ".join(value.split()))
            if name == "style":
                value = _FONT.sub("system-ui, sans-serif", value)
            element.set(name, _NUMBER.sub(_short, value))
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", label)
    return ElementTree.tostring(root, encoding="unicode")


def _references(element: ElementTree.Element) -> list[str]:
    found = [element.attrib[_HREF][1:]] if _HREF in element.attrib else []
    return [*found, *(name for value in element.attrib.values() for name in _REFERENCE.findall(value))]


def _short(found: re.Match[str]) -> str:
    text = f"{float(found[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text

"""SVG files as elements of a page."""

from __future__ import annotations

from srtk_plugin_evaluation.inline_svg import inline_svg

FILE = b"""<?xml version="1.0"?>
<svg xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg" width="10pt" viewBox="0 0 10 10">
 <metadata>made by</metadata>
 <defs><style type="text/css">*{stroke-linejoin: round}</style><path id="mark" d="M 0 0
L 1.23456 -0.00001"/></defs>
 <g id="figure_1" clip-path="url(#box)"><!-- a note -->
  <use xlink:href="#mark" style="fill: #FFFFFF"/><clipPath id="box"/>
  <text style="font: 10px 'DejaVu Sans', sans-serif; fill: #000000">a &lt;b&gt; 1.23456</text>
 </g>
</svg>"""


def test_a_file_becomes_an_element_with_the_colours_and_the_font_of_the_page() -> None:
    found = inline_svg(FILE, "p-", 'A "chart"', {"#ffffff": "none", "#000000": "currentColor"})
    assert found == (
        '<svg viewBox="0 0 10 10" role="img" aria-label="A &quot;chart&quot;"><defs>'
        '<path id="p-mark" d="M 0 0 L 1.23 0" /></defs>'
        '<g clip-path="url(#p-box)"><use href="#p-mark" style="fill: none" /><clipPath id="p-box" />'
        '<text style="font: 10px system-ui, sans-serif; fill: currentColor">a &lt;b&gt; 1.23456</text></g></svg>'
    )

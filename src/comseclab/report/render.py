"""From a Vega-Lite specification to SVG and PNG files, and to SVG that lives inside the page."""

import re
from typing import Any

import vl_convert

from comseclab.report.palette import EVERY

_EMPTY = re.compile(
    r'<path class="(?:fore|back)ground" aria-hidden="true" d="[^"]*"'
    r'(?: pointer-events="none")?(?: display="none")?(?: opacity="1")?/>'
)
_SILENT = re.compile(
    r' (?:class="mark-[^"]*"|aria-roledescription="[^"]*"|pointer-events="none"|opacity="1"|role="graphics-object")'
)
_AXIS = re.compile(r' role="graphics-symbol" aria-label="(?:[XY]-axis|Title text|Symbol legend|Header)[^"]*"')
_GEOMETRY = re.compile(r' (?:d|transform|width|height|x[12]?|y[12]?)="[^"<>]*"')
_LONG = re.compile(r"(\d\.\d)\d+")
_CLIP = re.compile(r'(?<=id=")clip\d+(?=")|(?<=url\(#)clip\d+(?=\))')
_ID = re.compile(r'(id="|url\(#)')


def svg(spec: dict[str, Any]) -> str:
    """The chart as a document of its own, in the light colours; the same chart gives the same text."""
    text = str(vl_convert.vegalite_to_svg(spec))
    numbers = {name: f"clip{place}" for place, name in enumerate(dict.fromkeys(_CLIP.findall(text)))}
    return _CLIP.sub(lambda found: numbers[found[0]], text)


def png(spec: dict[str, Any]) -> bytes:
    """The chart as an image, twice as dense as the page."""
    return bytes(vl_convert.vegalite_to_png(spec, scale=2))


def inline(text: str, name: str, title: str, description: str) -> str:
    """The chart's SVG for the page: colours become CSS variables, identifiers its own, and it scales
    with its column.

    `name` must be a fit prefix for identifiers. Title and description are what a screen reader says.
    """
    for needless in (_EMPTY, _SILENT, _AXIS):
        text = needless.sub("", text)
    text = _GEOMETRY.sub(lambda found: _LONG.sub(r"\1", found[0]), text)
    text = _ID.sub(lambda found: f"{found[1]}{name}-", text)
    for colour in EVERY:
        text = text.replace(f'"{colour.light}"', f'"var(--{colour.token})"')
    opening, body = text.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', opening)
    width = re.search(r' width="(\d+)', opening)
    if box is None or width is None:
        raise AssertionError("the chart's SVG has no size")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {box[0]} style="max-width:{width[1]}px" role="img" '
        f'aria-labelledby="{name}-t {name}-d"><title id="{name}-t">{_escape(title)}</title>'
        f'<desc id="{name}-d">{_escape(description)}</desc>{body}'
    )


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

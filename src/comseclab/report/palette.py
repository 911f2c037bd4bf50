"""The report's colours, one list for the page and for the charts' files.

Categories are the colour-blind-safe set of Okabe and Ito (2008), a little darker where text or thin lines need the
contrast. On the page each colour is a CSS variable of the token's name, so that charts follow the light or dark scheme
and print.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Colour:
    """A colour with its value on light and on dark ground."""

    token: str
    light: str
    dark: str


GROUND = Colour("ground", "#fefefd", "#15181c")
INK = Colour("ink", "#1c2126", "#e6e8ea")
QUIET = Colour("quiet", "#5a636d", "#a2abb4")
LINE = Colour("line", "#dde1e5", "#333a42")
LIMIT = Colour("limit", "#8a6d1f", "#d8b75a")

CATEGORIES = (
    Colour("c0", "#5f6b76", "#b4bec8"),
    Colour("c1", "#0072b2", "#5cb3ec"),
    Colour("c2", "#d55e00", "#f08a45"),
    Colour("c3", "#00875f", "#3cc79c"),
    Colour("c4", "#a8508a", "#dd8fc0"),
    Colour("c5", "#b58900", "#e6bd3c"),
    Colour("c6", "#3f51b5", "#98a4f0"),
    Colour("c7", "#7a4a21", "#c9986c"),
)
DASHES = ([1, 0], [7, 3], [2, 2], [7, 2, 2, 2], [11, 4], [4, 2], [1, 3], [9, 2, 1, 2, 1, 2])
EVERY = (GROUND, INK, QUIET, LINE, LIMIT, *CATEGORIES)


def css(dark: bool) -> str:
    """The declarations of all colours for one scheme."""
    return "".join(f"--{colour.token}:{colour.dark if dark else colour.light};" for colour in EVERY)

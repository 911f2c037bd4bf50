"""What all pages of a run share: looks, links, trials, proofs, environment, how to repeat."""

import os
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from comseclab.report import caveats, details, palette
from comseclab.report.figures import Figure
from comseclab.report.glossary import WORDS
from comseclab.report.run import RunData


def render(template: str, data: RunData, *packages: str, **content: Any) -> str:
    """A page of a run: a template that extends `frame.html.j2`, which shows what all pages of a run tell.

    `packages` hold templates beside the report's own.
    """
    links_unit, links = details.links(data)
    shared = {
        "warnings": caveats.find(data.summary, data.panels, data.records, data.specs),
        "links": links,
        "links_unit": links_unit,
        "trials_line": details.trials_line(data),
        "invalid": details.invalid(data),
        "outcomes": details.outcomes(data),
        "proofs": details.proofs(data),
        "samples": details.samples(data),
        "environment": details.environment(data),
        "repeat": details.repeat(data),
        "plan_text": data.plan_text,
        "glossary": WORDS,
        "methodology": documentation(data.path, "methodology.md"),
        "commands": details.commands(data),
    }
    return fill(template, *packages, **shared | content)


def fill(template: str, *packages: str, **content: Any) -> str:
    """A page in the report's looks: a template that extends `shell.html.j2`; `packages` as in `render`."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in (*packages, "comseclab.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["tidy"] = _tidy
    return environment.get_template(template).render(
        version=version("comseclab"),
        css=Markup(_scheme() + _asset("page.css")),
        js=Markup(_asset("page.js")),
        **content,
    )


def sections(figures: Sequence[Figure]) -> list[Mapping[str, Any]]:
    """Figures by the section of the page they stand in."""
    titles = dict.fromkeys(figure.section for figure in figures)
    return [
        {
            "id": title.lower().replace(" ", "-"),
            "title": title,
            "figures": [_drawn(f) for f in figures if f.section == title],
        }
        for title in titles
    ]


def _drawn(figure: Figure) -> Mapping[str, Any]:
    return vars(figure) | {"wide": Markup(figure.wide), "narrow": Markup(figure.narrow)}


def _scheme() -> str:
    """Light and dark colours; paper is light."""
    light, dark = palette.css(dark=False), palette.css(dark=True)
    return (
        f":root{{{light}--soft:#f3f4f5;color-scheme:light dark}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}--soft:#1e2328}}}}\n"
    )


def _tidy(text: str) -> str:
    """A number never parts from its unit at the end of a line."""
    return re.sub(r"(?<=[\d\]]) (?=%|[nµm]?s\b|[kMG]?B\b|→)", "\u00a0", text)


def _asset(name: str) -> str:
    return (resources.files("comseclab.report") / "templates" / name).read_text()


def documentation(run: Path, name: str) -> str | None:
    """A page of the documentation, where the run lies in a checkout; relative, so that the pair can move."""
    for parent in run.parents:
        if (parent / "docs" / name).is_file():
            return os.path.relpath(parent / "docs" / name, run)
    return None

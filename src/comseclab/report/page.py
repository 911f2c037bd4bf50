"""The page: everything of the report in one HTML file that needs nothing else."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from comseclab.report import caveats, details, palette, tables
from comseclab.report.glossary import WORDS
from comseclab.report.run import RunData
from comseclab.report.sentences import verdicts


@dataclass(frozen=True)
class Figure:
    """A chart as the page shows it; both widths are SVG, already escaped."""

    name: str
    section: str
    title: str
    caption: str
    wide: str
    narrow: str


def page(data: RunData, figures: Sequence[Figure], shown: Sequence[tables.Table], table_files: Sequence[str]) -> str:
    """The HTML of the whole report."""
    links_unit, links = details.links(data)
    environment = Environment(
        loader=PackageLoader("comseclab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["tidy"] = _tidy
    return environment.get_template("page.html.j2").render(
        version=version("comseclab"),
        css=Markup(_scheme() + _asset("page.css")),
        js=Markup(_asset("page.js")),
        plan=data.summary.plan,
        subtitle=_subtitle(data),
        sentences=verdicts(data.summary, data.panels),
        warnings=caveats.find(data.summary, data.panels, data.records, data.specs),
        tables=shown,
        table_files=table_files,
        sections=_sections(figures),
        links=links,
        links_unit=links_unit,
        trials_line=details.trials_line(data),
        invalid=details.invalid(data),
        outcomes=details.outcomes(data),
        proofs=details.proofs(data),
        samples=details.samples(data),
        environment=details.environment(data),
        commands=details.commands(data),
        repeat=details.repeat(data),
        plan_text=data.plan_text,
        glossary=WORDS,
        methodology=_methodology(data.path),
    )


def _sections(figures: Sequence[Figure]) -> list[Mapping[str, Any]]:
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


def _subtitle(data: RunData) -> str:
    comparison = data.summary.comparison
    began = min((record.started_at for record in data.records), default="")[:16].replace("T", " ")
    parts = [f"measured {began} UTC" if began else "", f"{len(data.summary.cases)} rows"]
    if comparison:
        parts.append(f"{comparison.factor} compared with {comparison.baseline}")
    return " · ".join(part for part in parts if part)


def _methodology(run: Path) -> str | None:
    """The documentation, where the run lies in a checkout; relative, so that the pair can move."""
    for parent in run.parents:
        if (parent / "docs" / "methodology.md").is_file():
            return os.path.relpath(parent / "docs" / "methodology.md", run)
    return None

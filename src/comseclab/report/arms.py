"""Which rows of a summary stand together: panels of arms.

A panel holds what may be compared at a glance: one workload and stream over one link, one quantity (one-way latency
and half a round trip never share a panel). An arm is a row's place in its panel, named by the factors that vary.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from comseclab.analysis.charts import CaseCharts
from comseclab.analysis.summary import Row, Summary
from comseclab.report.palette import CATEGORIES, DASHES, Colour
from comseclab.results.record import SWITCH_HOST

PANEL_FACTORS = ("workload", "link")


@dataclass(frozen=True)
class Arm:
    """One row of the summary with its charts' data, its baseline's row and its looks."""

    row: Row
    charts: CaseCharts
    baseline: Row | None
    label: str
    place: str
    style: int

    @property
    def colour(self) -> Colour:
        return CATEGORIES[self.style % len(CATEGORIES)]

    @property
    def dash(self) -> list[int]:
        return DASHES[self.style % len(DASHES)]


@dataclass(frozen=True)
class Panel:
    """Arms that stand together, under one title such as `scan over ethernet`."""

    title: str
    arms: tuple[Arm, ...]


def panels(summary: Summary, charts: Sequence[CaseCharts]) -> list[Panel]:
    """All rows in panels, in the summary's order; within a panel the baseline comes first."""
    rows = summary.cases
    studied = summary.comparison.factor if summary.comparison else None
    placing = [factor for factor in PANEL_FACTORS if factor != studied]
    naming = _naming(rows, placing, studied)
    several = {row.case for row in rows if row.stream_id != rows[0].stream_id}
    by_key = {(row.case, row.stream_id): row for row in rows}
    reference = summary.comparison.baseline if summary.comparison else None

    labels = {id(row): ", ".join(str(row.factors.get(name, "–")) for name in naming) for row in rows}
    first = sorted(rows, key=lambda row: studied is None or row.factors.get(studied) != reference)
    styles = {label: number for number, label in enumerate(dict.fromkeys(labels[id(row)] for row in first))}

    grouped: dict[str, list[Arm]] = {}
    for row, data in zip(rows, charts, strict=True):
        place = _place(row, placing, bool(several))
        title = place if data.quantity == "latency" else f"{place} (half round trip)"
        label = labels[id(row)]
        baseline = by_key.get((row.baseline, row.stream_id)) if row.baseline and row.baseline != row.case else None
        grouped.setdefault(title, []).append(Arm(row, data, baseline, label, place, styles[label]))
    return [Panel(title, tuple(sorted(arms, key=lambda arm: arm.style))) for title, arms in grouped.items()]


def every_arm(groups: Sequence[Panel]) -> list[Arm]:
    """The arms of all panels."""
    return [arm for panel in groups for arm in panel.arms]


def _naming(rows: Sequence[Row], placing: Sequence[str], studied: str | None) -> list[str]:
    """The factors that name an arm: the studied one, and all others that vary and do not name the panel."""
    factors = dict.fromkeys(name for row in rows for name in row.factors)
    varying = [name for name in factors if len({str(row.factors.get(name)) for row in rows}) > 1]
    naming = [name for name in factors if name == studied or (name in varying and name not in placing)]
    return naming or ["protection"]


def _place(row: Row, placing: Sequence[str], several_streams: bool) -> str:
    workload = str(row.factors.get("workload", row.stream)) if "workload" in placing else row.stream
    if several_streams and row.stream not in workload:
        workload = f"{workload} {row.stream}"
    return f"{workload} over {row.factors.get('link', '–')}" if "link" in placing else workload


def cpu_share(row: Row) -> float | None:
    """CPU time of the nodes' hosts as share of one core; what the laboratory's own switch needs is left out."""
    shares = [share for host, share in row.cpu_core_share.items() if host != SWITCH_HOST]
    return sum(shares) if shares else None

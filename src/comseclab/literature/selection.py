"""Which plan reproduces a study: the shipped one, made quick or extended as asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from comseclab.errors import LabError
from comseclab.literature.study import Study
from comseclab.places import shipped_plan
from comseclab.plan import Case, Plan, check_installed, expand, load_plan, only

QUICK_PAIRS = 4
"""Three give intervals half as wide again; five would leave no margin in the 45 minutes."""
QUICK: Mapping[str, Mapping[str, Any]] = {
    "plan": {"duration_s": 1.5, "drain_s": 1.0},
    "stop": {"min_pairs": QUICK_PAIRS, "max_pairs": QUICK_PAIRS},
}
"""Tables of the plan as `--quick` changes them."""


@dataclass(frozen=True)
class Selection:
    """A plan with the cases chosen from it, and its text as the run folder keeps it."""

    plan: Plan
    cases: Sequence[Case]
    text: str


def plan_name(study: Study, *, quick: bool) -> str:
    """What the run folders of a reproduction are named after."""
    return f"{study.id}-quick" if quick else study.id


def select(study: Study, *, quick: bool, today: bool, mtu_1500: bool, filters: Sequence[str]) -> Selection:
    """The cases of the study; `today` adds stacks, `mtu_1500` links, `filters` leave only some (as `run --only`).

    Raises LabError when a stack is missing: which cells to leave out is the user's choice.
    """
    path = shipped_plan(study.id)
    changed: dict[str, dict[str, Any]] = {table: dict(values) for table, values in QUICK.items()} if quick else {}
    changed.setdefault("plan", {})["name"] = plan_name(study, quick=quick)
    plan, texts = load_plan(path, changed), [path.read_text()]
    if today:
        beside = shipped_plan(f"{study.id}-today")
        plan = plan.model_copy(update={"matrix": [*plan.matrix, *load_plan(beside).matrix]})
        texts.append(beside.read_text())
    if mtu_1500:
        links = [*plan.factors.link, *(network.link for network in study.mtu_1500)]
        plan = plan.model_copy(update={"factors": plan.factors.model_copy(update={"link": links})})
    cases = expand(plan)
    if filters:
        cases = only(plan, cases, filters)
    _check_stacks(cases)
    return Selection(plan, cases, _told(texts, quick=quick, today=today, mtu_1500=mtu_1500))


def _check_stacks(cases: Sequence[Case]) -> None:
    try:
        check_installed(cases)
    except LabError as error:
        present = dict.fromkeys(case.factors.middleware for case in cases)
        without = ",".join(f"middleware={name}" for name in present if f"{name} is" not in error.cause)
        choice = f"; or leave it out: --only {without}" if without else ""
        raise LabError(error.cause, error.remedy + choice) from None


def _told(texts: Sequence[str], **options: bool) -> str:
    """The plans' text below a line that says how it was changed; `plan.json` beside it is what was run."""
    given = [f"--{name.replace('_', '-')}" for name, chosen in options.items() if chosen]
    note = f"# Carried out with {' '.join(given)}; plan.json holds the plan as it was run.\n\n" if given else ""
    return note + "\n".join(texts)

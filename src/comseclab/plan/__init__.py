"""Plans: what the user asks to compare, read from TOML and made into cases and trials."""

from comseclab.plan.cases import Case, check_installed, expand, expected_seconds, matching, only, stacks
from comseclab.plan.documents import check_documents
from comseclab.plan.read import load_plan, saved_plan, saved_text, with_recording
from comseclab.plan.runnable import check_runnable
from comseclab.plan.schema import Plan
from comseclab.plan.trials import Trials

__all__ = [
    "Case",
    "Plan",
    "Trials",
    "check_documents",
    "check_installed",
    "check_runnable",
    "expand",
    "expected_seconds",
    "load_plan",
    "matching",
    "only",
    "saved_plan",
    "saved_text",
    "stacks",
    "with_recording",
]

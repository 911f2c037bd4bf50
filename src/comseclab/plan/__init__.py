"""Plans: what the user asks to compare, read from TOML and made into cases and trials."""

from comseclab.plan.cases import Case, expand, expected_seconds, matching, only
from comseclab.plan.read import load_plan, with_recording
from comseclab.plan.schema import Plan
from comseclab.plan.trials import Trials

__all__ = ["Case", "Plan", "Trials", "expand", "expected_seconds", "load_plan", "matching", "only", "with_recording"]

"""The verb `demo`."""

from comseclab.cli import run
from comseclab.places import shipped_plan


def demo() -> None:
    """Show what DDS Security costs a laser scan and a camera image; ends with a page to look at.

    Example: comseclab demo
    """
    run.run(plan=shipped_plan("demo"))

"""The verb `doctor`."""

from rich.console import Console
from rich.table import Table


def doctor() -> None:
    """List what this machine can do, and how to get what is missing.

    Example: comseclab doctor
    """
    from comseclab.middleware.registry import MIDDLEWARES
    from comseclab.testbed.capabilities import Capability, capabilities

    stacks = [
        Capability(name, (version := stack.version()) is not None, version or "not installed", stack.how_to_install())
        for name, stack in MIDDLEWARES.items()
    ]
    table = Table("", "what", "here", "how to get it", box=None)
    for capability in (*capabilities(), *stacks):
        mark = "[green]yes[/green]" if capability.available else "[yellow]no[/yellow]"
        table.add_row(mark, capability.name, capability.found, "" if capability.available else capability.remedy)
    Console().print(table)

"""The verb `build`."""

from typing import Annotated

import typer


def build(tests: Annotated[bool, typer.Option(help="Build the native tests too.")] = False) -> None:
    """Build the native programs: node, transports, switch. The launcher does this by itself.

    Example: comseclab build
    """
    from comseclab.places import build_native

    build_native(with_tests=tests)

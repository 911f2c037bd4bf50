"""The tables of docs/attacks.md, from the code. `catalogue.py` writes them into the document."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from comseclab.attack.base import Attack
from comseclab.attack.dialect import dialects
from comseclab.attack.registry import ATTACKS
from comseclab.attack.spec import Seen
from comseclab.middleware.registry import MIDDLEWARES
from comseclab.trial.spec import Factors

DOCUMENT = Path(__file__).parents[2] / "docs" / "attacks.md"
Reliability = Literal["best-effort", "reliable"]
RELIABILITIES: tuple[Reliability, ...] = ("best-effort", "reliable")
NO_MESSAGE = "has no such control message"
CONTROLS = {"plain": "the same on `none`", "permitted": "the same node with the right"}


def attacks() -> Iterator[str]:
    """What every attack does, when it succeeded, and what must succeed before it is called stopped."""
    yield "| attack | what the attacker does | what counts as success | control | STRIDE |"
    yield "|---|---|---|---|---|"
    for attack in ATTACKS.values():
        if not attack.name.startswith("silence-"):
            yield _row(f"`{attack.name}`", attack.title, attack.success, _controls(attack), attack.stride)
    silence = next(attack for name, attack in ATTACKS.items() if name.startswith("silence-"))
    title = silence.title.partition(":")[0] + ", one of those below."
    yield _row("`silence-<message>`", title, silence.success, _controls(silence), silence.stride)


def silences() -> Iterator[str]:
    """The control messages that a stranger forges, by stack."""
    yield "| attack | stacks | the message |"
    yield "|---|---|---|"
    for dialect in dict.fromkeys(dialects().values()):
        for message, what in dialect.silences.items():
            yield _row(f"`silence-{message}`", ", ".join(dialect.stacks), what)


def refusals() -> Iterator[str]:
    """Where an attack makes no sense, and why. That a stack lacks a control message, the table of those shows."""
    yield "| attack | where | why it makes no sense there |"
    yield "|---|---|---|"
    for stack, dialect in dialects().items():
        protections = MIDDLEWARES[stack].protections if stack in MIDDLEWARES else ("none",)
        every = [_factors(stack, way, level) for way in RELIABILITIES for level in protections]
        for attack in ATTACKS.values():
            reasons: dict[str, list[Factors]] = {}
            for factors in every:
                if why := dialect.refuse(attack.name, factors):
                    reasons.setdefault(why, []).append(factors)
            for why, where in reasons.items():
                if NO_MESSAGE not in why:
                    yield _row(
                        f"`{attack.name}`", stack if where == every else f"{stack}, {_common(where, every)}", why
                    )


def seen() -> Iterator[str]:
    """What a trial's record says was seen, and attacks are judged by."""
    yield "| field of `seen` | |"
    yield "|---|---|"
    for name, field in Seen.model_fields.items():
        yield _row(f"`{name}`", field.description or "")


def _common(where: list[Factors], every: list[Factors]) -> str:
    """What sets the refused configurations apart."""
    levels = list(dict.fromkeys(factors.protection for factors in where))
    ways = {factors.reliability for factors in where}
    all_levels = len(levels) == len({factors.protection for factors in every})
    parts = [*(sorted(ways) if len(ways) < len(RELIABILITIES) else []), *([] if all_levels else levels)]
    return " ".join(f"`{part}`" for part in parts)


def _factors(stack: str, reliability: Reliability, protection: str) -> Factors:
    return Factors(
        middleware=stack, reliability=reliability, protection=protection, link="attack", workload="scan", codec="cdr",
        pattern="stream", settings="default",
    )  # fmt: skip


def _controls(attack: Attack) -> str:
    return " and ".join(CONTROLS[control] for control in attack.controls)


def _row(*fields: str) -> str:
    return f"| {' | '.join(field.replace('|', '/') for field in fields)} |"


def written(document: str) -> str:
    """The document with its tables as they should be."""
    for table in (attacks, silences, refusals, seen):
        begin, end = f"<!-- {table.__name__} -->\n", f"<!-- end of {table.__name__} -->"
        content = "\n".join(table()) + "\n"
        document = re.sub(f"{begin}.*?{end}", lambda _: begin + content + end, document, flags=re.DOTALL)  # noqa: B023
    return document


if __name__ == "__main__":
    DOCUMENT.write_text(written(DOCUMENT.read_text()))

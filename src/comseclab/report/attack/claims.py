"""What the documents claim against what happened. The claims are data: claims.toml."""

import tomllib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from comseclab.attack.matrix import CellRow
from comseclab.attack.verdict import Verdict
from comseclab.protection.levels import LEVELS
from comseclab.report.attack.looks import HARMFUL, Look
from comseclab.report.attack.run import AttackRun, Configuration, anchor

Side = Literal["for", "against", "open"]


class Standing(StrEnum):
    """Of a cell, before the documents."""

    SHOWN = "claimed and shown"
    REFUTED = "claimed and refuted"
    OPEN = "claimed, not shown"
    NOT_CLAIMED = "not claimed"
    UNKNOWN = "claims not known"


LOOKS = {
    Standing.REFUTED: Look("✕", "the documents claim that the attack is stopped, and it did what it was meant to"),
    Standing.SHOWN: Look("✓", "the documents claim it, and so it was, and every positive control worked"),
    Standing.OPEN: Look(
        "?",
        "the documents claim it, but the positive control failed, the attacker found nothing to act on, the stream was "
        "lost or a victim crashed instead, or no trial was valid",
    ),
    Standing.NOT_CLAIMED: Look("·", "no document claims that the attack is stopped"),
    Standing.UNKNOWN: Look("○", "the laboratory knows no document that speaks of the protection or the attack"),
}


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Claim(Part):
    """A property that a document claims of protections: those named, or those of DDS whose level has an attribute."""

    middleware: list[str]
    protection: list[str] = []
    level: str | None = Field(None, description="an attribute of protection.levels.Level")
    property: str
    source: str

    def protections(self) -> list[str]:
        """By their built-in names."""
        if self.level is None:
            return self.protection
        return [name for name, level in LEVELS.items() if getattr(level, self.level)]


class Documents(Part):
    """All of claims.toml."""

    properties: dict[str, str]
    attacks: dict[str, list[str]]
    claim: list[Claim]

    @model_validator(mode="after")
    def _known(self) -> Self:
        named = {name for names in self.attacks.values() for name in names} | {one.property for one in self.claim}
        if unknown := named - set(self.properties):
            raise ValueError(f"properties without a row: {', '.join(sorted(unknown))}")
        return self

    def tests(self, attack: str) -> frozenset[str]:
        """The properties an attack puts to the test; none for an attack without a row."""
        family = next((names for pattern, names in self.attacks.items()
                       if pattern.endswith("*") and attack.startswith(pattern[:-1])), [])  # fmt: skip
        return frozenset(self.attacks.get(attack, family))

    def claimed(self, one: Configuration) -> Mapping[str, str] | None:
        """The properties claimed of a configuration, with their sources; None where no document is known."""
        if not one.protected:
            return {}
        found = {claim.property: claim.source for claim in self.claim
                 if one.middleware in claim.middleware and one.base in claim.protections()}  # fmt: skip
        return found or None


@cache
def documents() -> Documents:
    """The claims as they ship."""
    return Documents.model_validate(tomllib.loads((resources.files(__package__) / "claims.toml").read_text()))


def standing(cell: CellRow) -> Standing | None:
    """How a cell stands before the documents; None where the attack makes no sense."""
    told = side(cell)
    if told is None:
        return None
    claimed, tested = documents().claimed(Configuration.of(cell)), documents().tests(cell.attack)
    if claimed is None or not tested:
        return Standing.UNKNOWN
    if not tested <= set(claimed):
        return Standing.NOT_CLAIMED
    if cell.verdict is Verdict.DISRUPTED and "availability" not in tested:
        return Standing.OPEN  # A victim that crashed has not shown that it took what was forged.
    return _STANDINGS[told]


_STANDINGS: dict[Side, Standing] = {"for": Standing.SHOWN, "against": Standing.REFUTED, "open": Standing.OPEN}
OF_HARM = {"availability", "connection", "control-integrity", "discovery-integrity", "participant-integrity"}
"""Properties that are broken by a stream that ends, whoever is told of it."""


def of_harm(attack: str) -> bool:
    """Whether an attack means to do harm to the stream, and nothing else."""
    tested = documents().tests(attack)
    return bool(tested) and tested <= OF_HARM


def side(cell: CellRow) -> Side | None:
    """Whether a cell speaks for what its attack tries to break, or against it; None where the attack makes no sense.

    Against: the attack did what it was meant to. It succeeded, or, where all that it puts to the test is broken by a
    stream that ends, it did any harm. For: it was stopped. Otherwise open; so is a stream that was lost under an
    attack that was not meant for it: nothing false was accepted, but who gets nothing, or has crashed, accepts nothing,
    and that does not show that he would have told false from true.
    """
    if cell.verdict is Verdict.NOT_APPLICABLE:
        return None
    if cell.verdict is Verdict.STOPPED:
        return "for"
    harmful = HARMFUL if of_harm(cell.attack) else (Verdict.SUCCEEDED,)
    return "against" if cell.verdict in harmful else "open"


def standings(run: AttackRun, one: Configuration) -> dict[Standing, list[CellRow]]:
    """A configuration's cells by their standing."""
    found: dict[Standing, list[CellRow]] = {which: [] for which in Standing}
    for cell in run.row(one):
        if which := standing(cell):
            found[which].append(cell)
    return found


Claims = tuple[tuple[str, str], ...]
"""Properties, each with the source that claims it."""


def refuted(run: AttackRun) -> list[dict[str, Any]]:
    """By attack: the cells that refute a claim, and the claims with their sources."""
    found: dict[tuple[str, Claims], list[CellRow]] = {}
    for cell in run.matrix.cells:
        if standing(cell) is Standing.REFUTED:
            claimed = documents().claimed(Configuration.of(cell)) or {}
            tested = sorted(documents().tests(cell.attack))
            broken = tuple((documents().properties[name], claimed[name]) for name in tested)
            found.setdefault((cell.attack, broken), []).append(cell)
    return [
        {
            "attack": attack,
            "claims": broken,
            "cells": [
                {"name": Configuration.of(one).name, "text": one.text, "href": f"#{anchor(one)}"} for one in cells
            ],
        }
        for (attack, broken), cells in found.items()
    ]


def sources(run: AttackRun) -> Iterator[dict[str, Any]]:
    """The claims that concern this run, each with its source and the attacks that put it to the test."""
    attacked = {(one.middleware, one.base) for one in run.configurations}
    for claim in documents().claim:
        stacks = [name for name in claim.middleware if name in run.middlewares]
        bases = [base for base in claim.protections() if any((stack, base) in attacked for stack in stacks)]
        if bases:
            yield {
                "property": documents().properties[claim.property],
                "of": f"{', '.join(stacks)}: {', '.join(bases)}",
                "source": claim.source,
                "attacks": [one.name for one in run.attacks if claim.property in documents().tests(one.name)],
            }

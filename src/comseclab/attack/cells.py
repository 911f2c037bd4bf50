"""From a plan to the cells of its matrix: every configuration under every attack, and the controls these need."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from comseclab.attack.base import Attack
from comseclab.attack.dialect import NONE, dialect_of
from comseclab.attack.registry import ATTACKS
from comseclab.attack.scene import ATTACKER, BYSTANDER
from comseclab.attack.spec import Arm
from comseclab.errors import LabError
from comseclab.plan import Case, Plan, levels, matching
from comseclab.plan.schema import Stream, nearest
from comseclab.protection.keystore import Keystore
from comseclab.testbed.profile import LinkProfile
from comseclab.trial.spec import Scheduling

LINK = LinkProfile(name="attack", mtu=16384)
"""A plain switch. Frames hold a whole message each, so that an adversary need not put fragments together."""
ALL = "all"
USUAL = {"reliability": "reliable", "codec": "cdr", "settings": "default"}
"""Levels that go without saying."""
SET_BY_ATTACKS = frozenset(("link", "workload", "pattern"))
"""Factors whose levels in the plan play no part."""
NOT_TIMED = Scheduling(lock_memory=False, switch_fifo_priority=None)


@dataclass(frozen=True)
class Cell:
    """A configuration under an attack. `refusal`: why it makes no sense there; then nothing is run."""

    case: Case
    attack: Attack
    refusal: str | None

    @property
    def id(self) -> str:
        factors = self.case.factors
        return "_".join(
            (
                factors.middleware,
                factors.reliability,
                factors.protection,
                factors.codec,
                factors.settings,
                self.attack.name,
            )
        )

    @property
    def title(self) -> str:
        """The cell as a person says it."""
        factors = self.case.factors
        unusual = [level for name, usual in USUAL.items() if (level := getattr(factors, name)) != usual]
        return " ".join([self.attack.name, "on", factors.middleware, factors.protection, *unusual])

    @property
    def protected(self) -> bool:
        return self.case.protection.base != "none"

    @property
    def control(self) -> tuple[str, str, str, str]:
        """Which configuration without protection is its control."""
        factors = self.case.factors
        return factors.middleware, factors.reliability, factors.settings, factors.codec

    @property
    def arms(self) -> tuple[Arm, ...]:
        return ("control", "attack") if "permitted" in self.attack.controls and self.protected else ("attack",)


def cells(plan: Plan, cases: Sequence[Case]) -> list[Cell]:
    """All cells, those without protection first.

    Raises LabError for an attack that nobody knows, and for a user's keystore that is none.
    """
    attacks = _chosen(plan)
    found = []
    for case in configurations(plan, cases):
        found += [Cell(case, attack, _refusal(attack, case)) for attack in attacks]
    return found


def _refusal(attack: Attack, case: Case) -> str | None:
    """Why the attack makes no sense for a configuration, or None. Raises LabError for a keystore that is none."""
    protection = case.protection
    dialect = dialect_of(case.factors.middleware)
    if refusal := dialect.refuse(attack.name, case.factors.model_copy(update={"protection": protection.base})):
        return refusal
    if protection.base == "none":
        return "nobody is an insider where nobody has an identity" if attack.controls == ("permitted",) else None
    if protection.keystore and "permitted" in attack.controls:
        lacking = Keystore.open(protection.keystore).lacks(dialect.authorities)
        return f"the keystore holds no key of its {lacking}, so no insider can be made" if lacking else None
    return None


def configurations(plan: Plan, cases: Sequence[Case]) -> list[Case]:
    """What can differ in an attack's outcome: link, workload and pattern are the attack's own.

    Each gets its counterpart without protection, which the attacks of outsiders need as control.
    """
    streams = tuple(levels.workload_streams(plan, plan.attack.workload)[:1])
    _check_hosts(plan, streams[0])
    found: dict[str, Case] = {}
    for case in cases:
        own = {"link": LINK.name, "workload": plan.attack.workload, "pattern": "stream"}
        plain = {**own, "protection": "none"}
        for update, protection in ((plain, NONE), (own, case.protection)):
            factors = case.factors.model_copy(update=update)
            made = replace(
                case,
                factors=factors,
                link=LINK,
                protection=protection,
                streams=streams,
                scheduling=NOT_TIMED,
                baseline=None,
            )
            found.setdefault(made.id, made)
    return sorted(found.values(), key=lambda case: (case.factors.middleware, case.protection.base != "none"))


def chosen(cases: Sequence[Case], filters: Sequence[str]) -> list[Case]:
    """The configurations that filters as "protection=all-encrypt" keep. Raises LabError where none can be meant."""
    named = {part.partition("=")[0].strip() for part in ",".join(filters).split(",")}
    if theirs := sorted(named & SET_BY_ATTACKS):
        raise LabError(f"--only: attacks have a {theirs[0]} of their own", "leave it out")
    return matching(cases, filters)


def _chosen(plan: Plan) -> list[Attack]:
    known = list(ATTACKS)
    for key in ("attacks", "require"):
        for name in getattr(plan.attack, key):
            if name not in known and (key, name) != ("attacks", ALL):
                raise LabError(f'[attack] {key}: no attack "{name}"; {nearest(name, known)}')
    return [ATTACKS[name] for name in (known if ALL in plan.attack.attacks else plan.attack.attacks)]


def _check_hosts(plan: Plan, stream: Stream) -> None:
    """Raise LabError where an adversary would have no place of its own, or no path to stand on."""
    for name in (ATTACKER, BYSTANDER):
        if name in plan.hosts.names:
            raise LabError(f"[hosts] names: {name} is the name of a host of the laboratory's own", "take another")
    if stream.writer in stream.readers[:1]:
        raise LabError(
            f"[attack] workload {plan.attack.workload}: its first stream does not leave its host {stream.writer}",
            "attack a stream between two hosts",
        )

"""A user's own documents, tried before any trial begins."""

from collections.abc import Sequence

from comseclab.plan.cases import Case
from comseclab.plan.schema import Plan
from comseclab.plan.trials import Trials
from comseclab.testbed import clean, network
from comseclab.trial import nodes
from comseclab.workload.source import Source
from comseclab.workload.spool import CODECS, Spool, Spools


def check_documents(plan: Plan, cases: Sequence[Case]) -> None:
    """Prepare the protections that are made of a user's keystore or documents, as a trial of each case would.

    All that this makes is gone when it returns. Raises LabError, naming file and remedy, where they cannot serve.
    """
    for case in _differing(cases):
        with clean.scratch() as folder:
            trials = Trials(plan, _NoMessages(folder), "switch", folder)
            spec = trials.spec(case, number=0, pair=0, seed=0, nonce="0" * 16)
            placed = nodes.place_nodes(spec, network.hosts_of(spec.hosts))
            places = nodes.places(placed, echo=spec.factors.pattern == "echo")
            case.middleware.prepare(spec, tuple(places.values()), folder / "material")


def _differing(cases: Sequence[Case]) -> list[Case]:
    """Of those with documents of the user's, one of each kind: links and reliabilities make no other documents."""
    found: dict[tuple[str, ...], Case] = {}
    for case in cases:
        given, factors = case.protection, case.factors
        if given.keystore or given.governance or given.permissions:
            kind = factors.middleware, given.name, factors.workload, factors.codec, factors.pattern
            found.setdefault(kind, case)
    return list(found.values())


class _NoMessages(Spools):
    """Spools that nobody reads: documents depend on the types of messages alone."""

    def prepare(self, source: Source, duration_s: float) -> Spool:  # noqa: ARG002
        kind = source.type
        return Spool(
            path=self.folder, sha256="", messages=0, distinct=0, rate_hz=0.0, max_size=dict.fromkeys(CODECS, 0),
            type=kind.name if kind else "", types={}, origin="",
        )  # fmt: skip

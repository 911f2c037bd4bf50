"""From cases to trials: everything of a TrialSpec that the campaign does not number."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from comseclab.plan import levels
from comseclab.plan.cases import Case
from comseclab.plan.schema import Plan
from comseclab.trial.spec import StreamSpec, TrialSpec
from comseclab.workload.spool import Spool, Spools


@dataclass(frozen=True)
class Trials:
    """Makes the specifications of a plan's trials. `backend` is the one the testbed chose for emulated links."""

    plan: Plan
    spools: Spools
    backend: Literal["kernel", "switch"]
    native: Path

    def prepare(self, cases: Sequence[Case]) -> None:
        """Write every spool the cases need. Raises LabError on a bad recording or a full disk."""
        for case in cases:
            self._spools(case)

    def spec(self, case: Case, *, number: int, pair: int, seed: int, nonce: str) -> TrialSpec:
        """The specification of one trial; `nonce` is 16 hexadecimal digits, fresh for every trial."""
        spools = self._spools(case)
        about = self.plan.plan
        return TrialSpec(
            number=number,
            pair=pair,
            factors=case.factors,
            hosts=self.plan.hosts.names,
            link=case.link,
            backend=self.backend if case.link.kind == "emulated" else "none",
            protection=case.protection,
            streams=[self._stream(case, place, spool) for place, spool in enumerate(spools)],
            types={name: fields for spool in spools for name, fields in spool.types.items()},
            settings=case.settings,
            own_transport=case.own_transport,
            scheduling=case.scheduling,
            seed=seed,
            nonce=nonce,
            rounds=about.rounds,
            pause_s=about.pause_s,
            round_s=about.duration_s,
            drain_s=about.drain_s + case.repair_s,
            capture=about.capture,
            native=self.native,
        )

    def _spools(self, case: Case) -> list[Spool]:
        about = self.plan.plan
        return [self.spools.prepare(one, about.duration_s) for one in levels.sources(case.streams, about.seed)]

    def _stream(self, case: Case, place: int, spool: Spool) -> StreamSpec:
        stream = case.streams[place]
        return StreamSpec(
            id=place,
            topic=levels.topic(stream),
            type=spool.type,
            writer_host=stream.writer,
            reader_hosts=stream.readers,
            spool=spool.path,
            spool_sha256=spool.sha256,
            messages=spool.messages,
            max_size=spool.max_size[case.factors.codec],
            rate_hz=spool.rate_hz,
            source=spool.origin + (f"; {spool.distinct} messages in turn" if spool.distinct < spool.messages else ""),
        )

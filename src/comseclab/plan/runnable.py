"""What would end a run once it has begun, found before: CPUs, libraries, recordings and documents as they are here."""

import os
from collections import deque
from collections.abc import Sequence
from itertools import islice

from comseclab.errors import LabError
from comseclab.plan import levels
from comseclab.plan.cases import Case
from comseclab.plan.documents import check_documents
from comseclab.plan.schema import Plan
from comseclab.workload.recording import Recorded

FIRST_MESSAGES = 3
"""Of a recorded topic: with two apart in time, its rate is known."""
ELF = b"\x7fELF"
ENTRY = b"comseclab_transport_entry"


def check_runnable(plan: Plan, cases: Sequence[Case]) -> None:
    """Raise LabError, naming cause and remedy, for what the cases name and this machine cannot give them."""
    for case in cases:
        _check_cpus(case)
        _check_library(case)
    _check_recordings(plan, cases)
    check_documents(plan, cases)


def _check_cpus(case: Case) -> None:
    here = sorted(os.sched_getaffinity(0))
    wanted = {f"node_cpus of {host}": cpus for host, cpus in case.scheduling.node_cpus.items()}
    if case.scheduling.switch_cpu is not None:
        wanted["switch_cpu"] = [case.scheduling.switch_cpu]
    for key, cpus in wanted.items():
        absent = [str(cpu) for cpu in cpus if cpu not in here]
        if absent or not cpus:
            told = f"there is no CPU {', '.join(absent)}" if absent else "no CPU is named"
            known = f"this machine has CPU {', '.join(map(str, here))}"
            raise LabError(f"[settings.{case.factors.settings}] {key}: {told}", known)


def _check_library(case: Case) -> None:
    if case.own_transport is None:
        return
    named = f"[transports.{case.factors.middleware}] library {case.own_transport.library}"
    try:
        content = case.own_transport.library.read_bytes()
    except OSError as error:
        raise LabError(f"{named} cannot be read: {error.strerror}", "name a shared library") from None
    if not content.startswith(ELF) or ENTRY not in content:
        raise LabError(
            f"{named} is no shared library with {ENTRY.decode()}", "docs/transports.md tells how to make one"
        )


def _check_recordings(plan: Plan, cases: Sequence[Case]) -> None:
    """Read each recorded topic to where it is known whether it can fill a round."""
    for streams in {case.factors.workload: case.streams for case in cases}.values():
        for source in levels.sources(streams, plan.plan.seed):
            if isinstance(source, Recorded):
                messages = source.messages(round(plan.plan.duration_s * 1e9))
                deque(islice(messages, FIRST_MESSAGES), maxlen=0)

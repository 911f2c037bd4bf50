"""From a run folder to its summary and its charts' data, in one pass over the samples, a trial at a time."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from comseclab.analysis import compare, shares
from comseclab.analysis.breakdown import breakdown
from comseclab.analysis.charts import CaseCharts, ChartData, ecdf, outliers
from comseclab.analysis.machine import Wire, cpu_by_host, cpu_by_process, handshake_ns, links, pss_by_host, wire
from comseclab.analysis.pool import Pool
from comseclab.analysis.quantiles import box, describe, describe_loss_aware, loss_aware_median
from comseclab.analysis.reading import Campaign, Case, Stream, read_campaign, read_samples, read_times
from comseclab.analysis.samples import Counted, count
from comseclab.analysis.summary import Breakdown, InvalidTrial, Row, Summary
from comseclab.results.record import TrialRecord
from comseclab.results.store import RunFolder

BINS_OVER_TIME = 1000


@dataclass(frozen=True)
class Analysis:
    """All that the report needs."""

    summary: Summary
    charts: ChartData


@dataclass(frozen=True)
class CaseResult:
    """One case: its valid trials and its streams, by id."""

    case: Case
    valid: list[TrialRecord]
    invalid: list[TrialRecord]
    pools: dict[int, Pool]
    wire: Wire


def analyse(path: Path) -> Analysis:
    """Summary and chart data of the run folder `path`. Raises LabError when it is damaged."""
    run = RunFolder.open(path)
    campaign = read_campaign(run)
    records = run.records()
    results = {case.id: _take_in(run, campaign, case, records) for case in campaign.cases}
    rows, charts = [], []
    for result in results.values():
        baseline = results.get(result.case.baseline) if result.case.baseline else None
        for stream in result.case.streams:
            rows.append(_row(campaign, result, baseline, stream))
            charts.append(_charts(result, stream, rows[-1]))
    summary = Summary(
        plan=campaign.plan,
        seed=campaign.seed,
        valid=all(_settled(row) for row in rows),
        warm_up=campaign.warm_up,
        comparison=campaign.comparison,
        environment=run.read_json("environment.json"),
        cases=rows,
        invalid_trials=[
            InvalidTrial(number=record.number, case=record.case, pair=record.pair, reasons=record.reasons)
            for record in records
            if record.status == "invalid"
        ],
    )
    return Analysis(summary, ChartData(cases=charts))


def trial_medians(trial: Path, streams: Sequence[Stream], echo: bool, warm_up: float) -> dict[int, float]:
    """Per stream the exact loss-aware median latency of one trial, ns: what the stopping rule looks at."""
    medians = {}
    for stream, counted in _counted(trial, streams, echo, warm_up):
        medians[stream.id] = loss_aware_median(counted.latency, counted.sent) / (2 if echo else 1)
    return medians


def _counted(trial: Path, streams: Sequence[Stream], echo: bool, warm_up: float) -> Iterator[tuple[Stream, Counted]]:
    times = read_times(trial)
    for stream, columns in read_samples(trial, streams):
        yield stream, count(columns, stream.messages, warm_up, stream.rate_hz, times[stream.id], closed_loop=echo)


def _settled(row: Row) -> bool:
    unresolved = row.ratio_to_baseline is not None and row.ratio_to_baseline.verdict == "not resolved"
    return row.trials > 0 and not unresolved and not (row.baseline and row.ratio_to_baseline is None)


def _take_in(run: RunFolder, campaign: Campaign, case: Case, records: Sequence[TrialRecord]) -> CaseResult:
    mine = [record for record in records if record.case == case.id]
    valid = [record for record in mine if record.status == "valid"]
    limit = campaign.deadline.limit_ns if campaign.deadline else None
    bins = max(10, BINS_OVER_TIME // max(len(valid), 1))
    pools = {stream.id: Pool(case.echo, limit, bins) for stream in case.streams}
    for record in valid:
        trial = run.trial(record.number, case.id)
        for stream, counted in _counted(trial, case.streams, case.echo, campaign.warm_up):
            pools[stream.id].add(record, counted)
    return CaseResult(case, valid, [record for record in mine if record.status == "invalid"], pools, wire(valid))


def _row(campaign: Campaign, result: CaseResult, baseline: CaseResult | None, stream: Stream) -> Row:
    pool, case = result.pools[stream.id], result.case
    row = Row(
        case=case.id,
        baseline=case.baseline,
        factors=case.factors,
        stream=stream.topic,
        stream_id=stream.id,
        type=stream.type,
        max_size=stream.max_size,
        link=case.link.model_dump(),
        trials=len(result.valid),
        invalid=len(result.invalid),
        outcomes=dict(Counter(outcome for record in result.valid for outcome in record.outcomes)),
        loss=pool.counts["lost"] / pool.counts["sent"] if pool.counts["sent"] else None,
        sent=pool.counts["sent"],
        not_taken=pool.counts["not_taken"],
        lost=pool.counts["lost"],
        duplicated=pool.counts["duplicated"],
        reordered=pool.counts["reordered"],
        late=pool.counts["late"],
        foreign=pool.counts["foreign"],
        latency_ns=None if case.echo else describe(pool.latency),
        half_round_trip_ns=describe(pool.latency) if case.echo else None,
        from_intended_ns=describe(pool.from_intended),
        stages_ns={stage: found for stage, values in pool.stages.items() if (found := describe(values))},
        loss_aware_ns=describe_loss_aware(pool.latency, pool.counts["sent"]),
        box=box(pool.latency),
        offered_hz=pool.rate("offered_hz"),
        achieved_hz=pool.rate("achieved_hz"),
        throughput_bps=pool.rate("throughput_bps"),
        wire_bytes_per_message=result.wire.bytes_per_message,
        wire_frames_per_message=result.wire.frames_per_message,
        handshake_ns=handshake_ns(result.valid, stream.id),
        cpu_core_share=cpu_by_host(result.valid),
        cpu_core_share_by_process=cpu_by_process(result.valid),
        pss_bytes=pss_by_host(result.valid),
    )
    if campaign.deadline:
        trials = pool.trials.values()
        row.deadline = shares.deadline(
            campaign.deadline.limit_ns, campaign.deadline.allowed_share,
            [trial.missed for trial in trials], [trial.sent for trial in trials],
        )  # fmt: skip
    if baseline and campaign.comparison and stream.id in baseline.pools:
        _compare(campaign, row, result, baseline)
    return row


def _compare(campaign: Campaign, row: Row, result: CaseResult, baseline: CaseResult) -> None:
    """Fill in what this row is beside its baseline."""
    pool, base = result.pools[row.stream_id], baseline.pools[row.stream_id]
    assert campaign.comparison
    medians = pool.paired(base, "median_ns")
    if not medians[0]:
        return
    level = compare.nominal_level(campaign.stop.min_pairs, campaign.stop.max_pairs)
    lost, sent = pool.paired(base, "lost"), pool.paired(base, "sent")
    row.ratio_to_baseline = compare.compare(*medians, campaign.comparison.tolerance, level)
    row.difference_ns = compare.difference(*medians, level)
    row.loss_difference = shares.loss_difference(lost[0], sent[0], lost[1], sent[1])
    row.cpu_ratio = compare.ratio_estimate(*pool.paired(base, "cpu_s"), level)
    row.breakdown = _breakdown(campaign, row, result, baseline)


def _breakdown(campaign: Campaign, row: Row, result: CaseResult, baseline: CaseResult) -> Breakdown | None:
    codec = [_codec_ns(side.pools[row.stream_id]) for side in (baseline, result)]
    if row.difference_ns is None or codec[0] is None or codec[1] is None:
        return None
    return breakdown(
        row.difference_ns.estimate,
        codec[1] - codec[0],
        (_base(baseline.case), _base(result.case)),
        row.max_size,
        campaign.cipher_floor,
        (baseline.wire.bytes_per_message, result.wire.bytes_per_message),
        result.case.link.rate_bps,
    )


def _base(case: Case) -> str:
    return case.protection_base or str(case.factors["protection"])


def _codec_ns(pool: Pool) -> float | None:
    if not pool.latency.n:
        return None
    return pool.stages["serialisation"].quantile(0.5) + pool.stages["deserialisation"].quantile(0.5)


def _charts(result: CaseResult, stream: Stream, row: Row) -> CaseCharts:
    pool = result.pools[stream.id]
    return CaseCharts(
        case=result.case.id,
        stream=stream.topic,
        stream_id=stream.id,
        quantity="half round trip" if result.case.echo else "latency",
        box=row.box,
        outliers=outliers(pool.latency, row.box),
        ecdf=ecdf(pool.latency, row.sent),
        over_time=pool.over_time,
        trials=pool.points(),
        links=links(result.valid),
    )

"""The summary of a run: what `summary.json` holds. A promise to other programs (`version` changes with its meaning).

Times are nanoseconds (`_ns`), rates per second (`_hz`), shares between 0 and 1. `None` (JSON null) means that the data
do not tell: a quantile too extreme for its n, a ratio with an infinite median. Definitions: docs/methodology.md.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Verdict = Literal["equivalent", "more", "less", "not resolved", "lost"]
LossAwareNs = float | Literal["lost"] | None


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Quantiles(Part):
    """Description of the messages that arrived, all trials pooled."""

    n: int
    mean: float
    sd: float | None = Field(description="null for a single observation")
    min: float
    p50: float | None
    p90: float | None
    p99: float | None
    p999: float | None
    max: float


class LossAware(Part):
    """Quantiles over all messages sent, a lost one being infinitely late ("lost"); null: too extreme for n."""

    n: int
    p50: LossAwareNs
    p90: LossAwareNs
    p99: LossAwareNs
    p999: LossAwareNs


class Box(Part):
    """Tukey's box: whiskers end at the last observation within 1.5 interquartile ranges of the quartiles.

    Mild outliers lie beyond the whiskers, severe ones beyond 3 interquartile ranges. None is dropped.
    """

    q1: float
    median: float
    q3: float
    whisker_low: float
    whisker_high: float
    mild_low: int
    mild_high: int
    severe_low: int
    severe_high: int


class Ratio(Part):
    """This case over its baseline, over trial pairs, with a 95 % interval; verdict by interval and tolerance.

    `lost`: an arm lost more than half of its messages in at least half of the pairs, or both did in some pair; then
    there is no ratio.
    """

    median: float | None
    low: float | None
    high: float | None = Field(description="null beside a low: unbounded, some pairs having an infinite ratio")
    verdict: Verdict
    pairs: int
    lost_pairs: int = Field(description="pairs in which an arm's median is infinite: more than half lost, or none sent")
    tolerance: float
    method: Literal["t", "order statistics", "none"]


class Difference(Part):
    """This case minus its baseline, with a 95 % interval."""

    estimate: float
    low: float
    high: float
    pairs: int


class Estimate(Part):
    """A ratio without a verdict, with a 95 % interval over pairs."""

    estimate: float
    low: float
    high: float
    pairs: int


class Deadline(Part):
    """Messages later than the limit; a lost one is a miss."""

    limit_ns: int
    allowed_share: float
    n: int
    missed: int
    share: float
    lower_bound: float = Field(description="one-sided 97.5 % bound of the share")
    upper_bound: float = Field(description="one-sided 97.5 % bound of the share")
    effective_n: float = Field(description="messages that, were they independent, would say as much")
    trials: int
    trials_with_miss: int
    trials_upper_bound: float = Field(description="of the share of trials with a miss; trials are independent")
    verdict: Literal["met", "missed", "not resolved"]


class Breakdown(Part):
    """Where the difference of median latency to the baseline comes from, per message. Parts add up to the total."""

    total_ns: float
    codec_ns: float = Field(description="serialisation and deserialisation")
    cipher_floor_ns: float | None = Field(description="seal and open at this size, times the protection's passes")
    passes: int | None
    extra_bytes: float | None
    extra_bytes_ns: float | None = Field(description="the extra bytes at the link's rate; 0 where it has none")
    rest_ns: float


class Row(Part):
    """One stream of one case."""

    case: str
    baseline: str | None
    factors: dict[str, Any]
    stream: str = Field(description="topic")
    stream_id: int
    type: str
    max_size: int
    link: dict[str, Any]

    trials: int = Field(description="valid ones")
    invalid: int
    outcomes: dict[str, int] = Field(description="overload, no connection ...: in how many trials")

    sent: int = Field(
        description="messages scheduled after warm-up, once per reader, begun or not; of echo those begun, if any"
    )
    not_taken: int = Field(description="those never begun or that the middleware did not take; they count as lost too")
    lost: int = Field(description="never arrived by the end of the drain time")
    loss: float | None = Field(description="lost / sent")
    duplicated: int = Field(description="further copies of a message that arrived")
    reordered: int
    late: int = Field(description="arrived more than one mean period of the stream after it was sent")
    foreign: int = Field(description="receipts not sent by this trial's writer")

    latency_ns: Quantiles | None = None
    half_round_trip_ns: Quantiles | None = Field(default=None, description="pattern echo, instead of latency_ns")
    from_intended_ns: Quantiles | None = Field(default=None, description="from the intended time; null for echo")
    stages_ns: dict[str, Quantiles] = Field(
        default_factory=dict, description="serialisation, transmission, deserialisation, publish_call"
    )
    loss_aware_ns: LossAware
    box: Box | None = None

    offered_hz: float | None = Field(description="by the intended times; null for echo")
    achieved_hz: float | None = Field(description="by the actual times of sending")
    throughput_bps: float | None = Field(description="payload bits that arrived, from first begin to last done")
    wire_bytes_per_message: float | None = Field(description="all hosts' frames over all messages of the trial")
    wire_frames_per_message: float | None
    handshake_ns: float | None = Field(description="median of trials: last node open to all ends matched")
    cpu_core_share: dict[str, float] = Field(description="per host, user + system, 1 = one core; mean of trials")
    cpu_core_share_by_process: dict[str, float] = Field(description='"host/process"')
    pss_bytes: dict[str, float] = Field(description="per host, mean of trials")

    ratio_to_baseline: Ratio | None = None
    difference_ns: Difference | None = Field(default=None, description="of the trials' loss-aware medians")
    loss_difference: Difference | None = None
    cpu_ratio: Estimate | None = Field(default=None, description="of the CPU time of all nodes of the trial")
    deadline: Deadline | None = None
    breakdown: Breakdown | None = None


class InvalidTrial(Part):
    number: int
    case: str
    pair: int
    reasons: list[str]


class Comparison(Part):
    factor: str
    baseline: str
    tolerance: float


class Summary(Part):
    """`summary.json`."""

    version: Literal[1] = 1
    plan: str
    seed: int
    valid: bool = Field(
        description="every case has a valid trial and every comparison a verdict other than 'not resolved'"
    )
    warm_up: float
    comparison: Comparison | None
    environment: dict[str, Any]
    cases: list[Row]
    invalid_trials: list[InvalidTrial]


def schema() -> dict[str, Any]:
    """The JSON schema of `summary.json`."""
    return Summary.model_json_schema()

"""The criteria behind each conclusion of Martin et al. 2018, over its cells (configuration, network, sensor).

Their words stand in martin2018.toml under the same ids.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product

from comseclab.literature import checks
from comseclab.literature.checks import Check, Verdict, decide
from comseclab.literature.evidence import Evidence
from comseclab.literature.study import Study

Checks = Iterable[Check | None]

ICE, RELIABLE, BEST_EFFORT = ("ice", "ice-ssl"), ("re", "re-auth", "re-crypto"), ("be", "be-auth", "be-crypto")
FAST_DDS = (*BEST_EFFORT, *RELIABLE)
EVERY = ("ros", *ICE, *FAST_DDS)
SECURED = (("ice", "ice-ssl"), ("be", "be-auth"), ("be", "be-crypto"), ("re", "re-auth"), ("re", "re-crypto"))
NETWORKS, WIRED = ("localhost", "ethernet", "wifi"), ("localhost", "ethernet")
SENSORS, SMALLER, LARGER = ("scan", "image", "points"), ("scan", "image"), ("image", "points")
SMALL_COST = 1.5
"""A ratio up to which a cost counts as small: the published figures called so reach from 0.9 to 1.5."""
LOW_OVERHEAD = 2.0
"""A ratio up to which an overhead counts as relatively low."""
NOTICEABLE = 1.1
"""A ratio from which a cost counts as not negligible: the laboratory's own tolerance."""


def small_and_medium_arrive_locally(evidence: Evidence) -> Checks:
    return (checks.carries(evidence, (one, "localhost", sensor)) for one, sensor in product(EVERY, SMALLER))


def ice_loses_clouds(evidence: Evidence) -> Checks:
    return (checks.loses(evidence, (one, "localhost", "points")) for one in ICE)


def encrypted_best_effort_loses(evidence: Evidence) -> Checks:
    lost = [("localhost", sensor) for sensor in LARGER] + [("ethernet", sensor) for sensor in SENSORS]
    return (checks.loses(evidence, ("be-crypto", *place)) for place in lost)


def ros_keeps_clouds_on_ethernet(evidence: Evidence) -> Checks:
    yield checks.loses_at_most(evidence, ("ros", "ethernet", "points"), 0.4)
    for one in (*ICE, *BEST_EFFORT):
        yield checks.loses(evidence, (one, "ethernet", "points"))


def reliable_alone_carries_all_on_ethernet(evidence: Evidence) -> Checks:
    for one, sensor in product(RELIABLE, SENSORS):
        yield checks.carries(evidence, (one, "ethernet", sensor))
    for one in ("ros", *ICE, *BEST_EFFORT):
        each = [checks.not_carried(evidence, (one, "ethernet", sensor)) for sensor in SENSORS]
        yield checks.any_of(each, "one sensor is not carried")


def wifi_carries_scans(evidence: Evidence) -> Checks:
    return (checks.carries(evidence, (one, "wifi", "scan")) for one in EVERY)


def wifi_is_for_scans_only(evidence: Evidence) -> Checks:
    return (checks.unusable(evidence, (one, "wifi", sensor)) for one, sensor in product(EVERY, LARGER))


def only_reliable_beats_ros_on_wifi(evidence: Evidence) -> Checks:
    for sensor in LARGER:
        ros = ("ros", "wifi", sensor)
        yield checks.loses_less(evidence, [(one, "wifi", sensor) for one in RELIABLE], ros)
        for one in (*ICE, *BEST_EFFORT):
            yield checks.loses_more(evidence, (one, "wifi", sensor), ros)


def security_does_not_lose(evidence: Evidence) -> Checks:
    for (plain, secured), network, sensor in product(SECURED, NETWORKS, SENSORS):
        yield checks.same_loss(evidence, (plain, network, sensor), (secured, network, sensor))


def ros_is_slower_locally(evidence: Evidence) -> Checks:
    for one, sensor in product(("ice", "be", "re"), SMALLER):
        yield checks.ratio_at_most(evidence, ("ros", "localhost", sensor), (one, "localhost", sensor), 0.5)


def fast_dds_beats_ice(evidence: Evidence) -> Checks:
    for network, sensor in product(WIRED, SMALLER):
        yield checks.ratio_at_most(evidence, ("ice", network, sensor), ("be", network, sensor), 1.0)


def clouds_locally(evidence: Evidence) -> Checks:
    ros = ("ros", "localhost", "points")
    yield checks.in_real_time(evidence, ros)
    for one in ("be", "re"):
        yield checks.ratio_within(evidence, ros, (one, "localhost", "points"), SMALL_COST)
    for one in ICE:
        yield checks.unusable(evidence, (one, "localhost", "points"))


def reliability_is_cheap(evidence: Evidence) -> Checks:
    places = [*product(WIRED, SMALLER), ("wifi", "scan")]
    for (best_effort, reliable), place in product(zip(BEST_EFFORT, RELIABLE, strict=True), places):
        yield checks.ratio_at_most(evidence, (best_effort, *place), (reliable, *place), SMALL_COST)


def ice_copes_with_images_when_wired(evidence: Evidence) -> Checks:
    return (checks.usable(evidence, (one, network, "image")) for one, network in product(ICE, WIRED))


def tls_is_cheap(evidence: Evidence) -> Checks:
    for place in product(WIRED, SMALLER):
        yield checks.ratio_at_most(evidence, ("ice", *place), ("ice-ssl", *place), SMALL_COST)


def encryption_costs_but_stays_in_real_time(evidence: Evidence) -> Checks:
    for (plain, encrypted), sensor in product((("be", "be-crypto"), ("re", "re-crypto")), SENSORS):
        cell = (encrypted, "localhost", sensor)
        yield checks.ratio_above(evidence, (plain, "localhost", sensor), cell, NOTICEABLE)
        yield checks.in_real_time(evidence, cell)


def encryption_over_ethernet_stays_in_real_time(evidence: Evidence) -> Checks:
    for (plain, encrypted), sensor in product((("be", "be-crypto"), ("re", "re-crypto")), SMALLER):
        cell = (encrypted, "ethernet", sensor)
        yield checks.ratio_above(evidence, (plain, "ethernet", sensor), cell, 1.0)
        yield checks.in_real_time(evidence, cell)


def ethernet_is_slower(evidence: Evidence) -> Checks:
    for one, sensor in product(EVERY, SMALLER):
        yield checks.ratio_above(evidence, (one, "localhost", sensor), (one, "ethernet", sensor), 1.0)


def ros_and_fast_dds_are_robust(evidence: Evidence) -> Checks:
    for one, place in product(("ros", "be", "re"), [*product(WIRED, SENSORS), ("wifi", "scan")]):
        yield checks.carries(evidence, (one, *place))


def larger_is_slower(evidence: Evidence) -> Checks:
    for one, network, (smaller, larger) in product(EVERY, WIRED, (("scan", "image"), ("image", "points"))):
        yield checks.ratio_above(evidence, (one, network, smaller), (one, network, larger), 1.0)


def networks_in_order(evidence: Evidence) -> Checks:
    for one, (near, far) in product(EVERY, (("localhost", "ethernet"), ("ethernet", "wifi"))):
        yield checks.ratio_above(evidence, (one, near, "scan"), (one, far, "scan"), 1.0)


def gap_to_ros_shrinks(evidence: Evidence) -> Checks:
    for one, sensor in product(("ice", "be", "re"), SMALLER):
        yield checks.gap_shrinks(evidence, _to_ros(one, "localhost", sensor), _to_ros(one, "ethernet", sensor))
    for one in ("be", "re"):
        yield checks.gap_shrinks(evidence, _to_ros(one, "localhost", "scan"), _to_ros(one, "wifi", "scan"))


def _to_ros(one: str, network: str, sensor: str) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
    return (one, network, sensor), ("ros", network, sensor)


def order_on_wifi(evidence: Evidence) -> Checks:
    for one in ("be", "re"):
        yield checks.ratio_at_most(evidence, ("ice-ssl", "wifi", "scan"), (one, "wifi", "scan"), 1.0)
        yield checks.ratio_at_most(evidence, ("ros", "wifi", "scan"), (one, "wifi", "scan"), 1.0)
    yield checks.ratio_at_most(evidence, ("ros", "wifi", "scan"), ("ice-ssl", "wifi", "scan"), 1.0)


def security_is_cheap_on_wifi(evidence: Evidence) -> Checks:
    for plain, secured in SECURED:
        yield checks.ratio_at_most(evidence, (plain, "wifi", "scan"), (secured, "wifi", "scan"), SMALL_COST)


def security_is_acceptable(evidence: Evidence) -> Checks:
    """Asked where the unsecured twin is usable; where that is not resolved, neither is this."""
    for (plain, secured), network, sensor in product(SECURED, NETWORKS, SENSORS):
        without = checks.usable(evidence, (plain, network, sensor)).holds
        if without is not False:
            found = checks.usable(evidence, (secured, network, sensor))
            yield Check(found.cells, found.asks, found.holds if without else None, found.figures)


def clouds_are_not_carried(evidence: Evidence) -> Checks:
    cells = product((*ICE, *FAST_DDS), NETWORKS)
    return (checks.not_carried(evidence, (one, network, "points")) for one, network in cells)


def overhead_is_low_when_wired(evidence: Evidence) -> Checks:
    for (plain, secured), network, sensor in product(SECURED, WIRED, SMALLER):
        yield checks.ratio_at_most(evidence, (plain, network, sensor), (secured, network, sensor), LOW_OVERHEAD)


CRITERIA: Mapping[str, Callable[[Evidence], Checks]] = {
    criterion.__name__.replace("_", "-"): criterion
    for criterion in (
        security_is_acceptable, overhead_is_low_when_wired, clouds_are_not_carried,
        small_and_medium_arrive_locally, ice_loses_clouds, encrypted_best_effort_loses, ros_keeps_clouds_on_ethernet,
        reliable_alone_carries_all_on_ethernet, wifi_carries_scans, wifi_is_for_scans_only,
        only_reliable_beats_ros_on_wifi, networks_in_order, security_does_not_lose, ros_is_slower_locally,
        fast_dds_beats_ice, clouds_locally, reliability_is_cheap, ice_copes_with_images_when_wired,
        tls_is_cheap, encryption_costs_but_stays_in_real_time, gap_to_ros_shrinks, order_on_wifi,
        security_is_cheap_on_wifi, encryption_over_ethernet_stays_in_real_time, ethernet_is_slower,
        ros_and_fast_dds_are_robust, larger_is_slower,
    )
}  # fmt: skip


def judge(study: Study, evidence: Evidence) -> Iterator[tuple[str, Verdict]]:
    """Every conclusion's id with its verdict, in the study file's order."""
    for conclusion in study.conclusions:
        yield conclusion.id, decide(CRITERIA[conclusion.id](evidence))

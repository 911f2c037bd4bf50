"""The published numbers, against sums added up from the paper: a wrong digit changes one."""

from pathlib import Path

import pytest

from comseclab.errors import LabError
from comseclab.literature import study as studies
from comseclab.literature.conclusions import CRITERIA
from comseclab.literature.study import Study, load
from comseclab.plan.links import MBIT, MS, PROFILES

NETWORKS = ("localhost", "ethernet", "wifi")
MEANS_US = {
    "scan": (43_482, 38_885, 224_300),
    "image": (82_173, 159_077, 18_921_411),
    "points": (731_853, 1_927_952, 30_580_892),
}
"""Tables 1 to 3: the sum of each column's means, and below of its standard deviations and of its N/A."""
DEVIATIONS_US = {
    "scan": (14_209, 16_452, 176_908),
    "image": (25_840, 37_447, 10_175_584),
    "points": (110_361, 697_579, 10_808_567),
}
NOT_AVAILABLE = {"scan": (0, 0, 1), "image": (0, 1, 4), "points": (3, 3, 4)}
LOSS_PERCENT = {"scan": (0.13, 100.04, 100.21), "image": (0, 105.11, 764.93), "points": (300.09, 534.14, 795.04)}
"""Table 4: the sum of each column."""
ROWS = {
    "ros": (3_278_585, 483_751, 211.87), "ice": (33_092, 7_798, 500.0), "ice-ssl": (83_927, 42_567, 400.0),
    "be": (11_783_146, 4_165_397, 293.19), "be-auth": (10_149_219, 4_996_495, 293.51),
    "be-crypto": (20_957, 17_998, 600.0), "re": (15_382_761, 6_440_268, 95.23),
    "re-auth": (4_941_157, 2_716_876, 101.44), "re-crypto": (7_037_181, 3_191_797, 204.45),
}  # fmt: skip
"""Of each configuration: the sums of its means and standard deviations in tables 1 to 3, us, and of its losses, %."""


@pytest.mark.parametrize("sensor", ["scan", "image", "points"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_columns_add_up(study: Study, sensor: str, place: int) -> None:
    cells = [cell for key, cell in study.published.items() if key[1:] == (NETWORKS[place], sensor)]
    assert len(cells) == 9
    assert round(sum(cell.mean_ns or 0 for cell in cells)) == 1000 * MEANS_US[sensor][place]
    assert round(sum(cell.sd_ns or 0 for cell in cells)) == 1000 * DEVIATIONS_US[sensor][place]
    assert sum(cell.mean_ns is None for cell in cells) == NOT_AVAILABLE[sensor][place]
    assert 100 * sum(cell.loss for cell in cells) == pytest.approx(LOSS_PERCENT[sensor][place], abs=1e-9)


@pytest.mark.parametrize("configuration", ROWS)
def test_rows_add_up(study: Study, configuration: str) -> None:
    cells = [cell for key, cell in study.published.items() if key[0] == configuration]
    means, deviations, loss = ROWS[configuration]
    assert round(sum(cell.mean_ns or 0 for cell in cells)) == 1000 * means
    assert round(sum(cell.sd_ns or 0 for cell in cells)) == 1000 * deviations
    assert 100 * sum(cell.loss for cell in cells) == pytest.approx(loss, abs=1e-9)


def test_what_it_was_measured_with(study: Study) -> None:
    assert [sensor.samples for sensor in study.sensors] == [2398, 1910, 1083]
    assert [(one.delay_ms, one.sd_ms, one.rate_mbps, one.loss) for one in study.networks] == [
        (0, 0, 0, 0), (0.3, 0.36, 1000, 0), (13, 22, 54, 0.01),
    ]  # fmt: skip
    for network in study.networks[1:]:
        profile = PROFILES[network.link]
        assert (profile.rate_bps, profile.loss) == (network.rate_mbps * MBIT, network.loss)
        assert (profile.delay_ns, profile.jitter_ns) == (round(network.delay_ms * MS), round(network.sd_ms * MS))
    assert study.source.doi == "10.1016/j.robot.2017.11.002"


def test_every_conclusion_has_its_criterion(study: Study) -> None:
    assert [conclusion.id for conclusion in study.conclusions] == list(CRITERIA)


def test_differences_name_what_the_study_has(study: Study) -> None:
    known = [{key[place] for key in study.published} for place in range(3)]
    for difference in study.differences:
        named = (difference.configurations, difference.networks, difference.sensors)
        assert all(set(names) <= wanted for names, wanted in zip(named, known, strict=True)), difference.id


@pytest.mark.parametrize(("name", "hint"), [("martin2081", "martin2018"), ("", "martin2018"), ("kim", "martin2018")])
def test_an_unknown_study_names_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(LabError, match=hint):
        load(name)


def test_a_table_with_a_missing_figure_is_refused(study: Study) -> None:
    content = study.model_dump()
    content["loss_percent"]["image"]["ros"].pop()
    with pytest.raises(ValueError, match=r"loss_percent\.image"):
        Study.model_validate(content)


def test_it_ships_beside_the_code() -> None:
    assert (Path(studies.__file__).parent / "martin2018.toml").is_file()

"""What a protection costs beside what it was shown to stop. Known answers."""

import pytest
from made_up_attacks import write_costs

from comseclab.errors import LabError
from comseclab.report.attack import build, cost
from comseclab.report.attack.run import AttackRun


def test_costs_are_geometric_means_and_the_useless_stands_out(run: AttackRun) -> None:
    write_costs(run.path.parent / "20260101T100000-made-up")
    found = cost.find(run, None)
    assert found is not None
    points = {point.configuration.name: point for point in cost.points(run, found[1])}
    assert points["fastdds payload-sign"].ratio == pytest.approx(6.0)
    assert points["fastdds none"].ratio == 1
    assert points["fastdds all-encrypt"].stopped == 3
    assert {name: point.kind(0.1) for name, point in points.items()} == {
        "fastdds none": "none shown stopped",
        "fastdds auth": "costs, none shown stopped",
        "fastdds payload-sign": "attacks shown stopped",
        "fastdds all-encrypt": "attacks shown stopped",
        "zenoh none": "none shown stopped",
        "zenoh mtls": "attacks shown stopped",
        "own cipher": "attacks shown stopped",
    }


def test_the_newest_run_of_the_same_plan_has_the_costs(run: AttackRun) -> None:
    out = run.path.parent
    write_costs(out / "20260101T100000-made-up")
    newest = write_costs(out / "20260103T100000-made-up")
    write_costs(out / "20260104T100000-other", plan="other")
    write_costs(out / "20260104T110000-made-up", factor="settings")
    (out / "20260105T100000-broken").mkdir()
    (out / "20260105T100000-broken" / "summary.json").write_text("{")
    found = cost.find(run, None)
    assert found is not None
    assert found[0] == newest


def test_costs_of_other_configurations_are_no_chart(run: AttackRun) -> None:
    write_costs(run.path.parent / "20260101T100000-made-up", ratios={("cyclonedds", "auth"): (2.0,)})
    told = build(run.path).read_text()
    assert "20260101T100000-made-up has no ratio of a protection that was attacked here." in told
    assert "No run of this plan beside this one" not in told
    assert not (run.path / "charts").exists()


def test_a_chart_of_costs_goes_with_its_costs(run: AttackRun) -> None:
    asked = write_costs(run.path.parent / "asked", plan="other")
    build(run.path, asked)
    other = run.path / "charts" / "other.svg"
    other.touch()
    assert len(list((run.path / "charts").glob("cost-protection.*"))) == 3
    assert "No run of this plan beside this one" in build(run.path).read_text()
    assert list((run.path / "charts").iterdir()) == [other]


def test_ratios_of_something_else_are_no_costs(run: AttackRun) -> None:
    with pytest.raises(LabError, match="compares settings with none"):
        build(run.path, write_costs(run.path.parent / "asked", factor="settings"))


@pytest.mark.parametrize("content", [None, "{", '{"version": 1}'])
def test_costs_that_were_asked_for_and_are_wrong_are_refused(run: AttackRun, content: str | None) -> None:
    asked = run.path.parent / "asked"
    asked.mkdir()
    if content is not None:
        (asked / "summary.json").write_text(content)
    with pytest.raises(LabError, match=r"summary\.json"):
        build(run.path, asked)

"""The words a profile is put in for tc; what they do is tested where a kernel has netem, in tests/kernel_path."""

import pytest

from comseclab.plan.links import PROFILES
from comseclab.testbed.netem import stages
from comseclab.testbed.profile import LinkProfile


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        (
            PROFILES["wifi"],
            ["limit 9454 delay 13000.0us 22000.0us distribution normal loss 1.000000% rate 54000000bit"],
        ),
        # Reordering and a rate: the rate comes after the delay and has a queue of its own.
        (
            PROFILES["ethernet-2018"],
            ["limit 3818 delay 300.0us 360.0us distribution normal", "limit 3818 rate 1000000000bit"],
        ),
        # In order without a rate: only a rate keeps netem from reordering.
        (
            LinkProfile(name="x", delay_ns=1000, jitter_ns=500, distribution="uniform", limit_frames=7),
            ["limit 7 delay 1.0us 0.5us distribution uniform rate 1000gbit"],
        ),
        (
            LinkProfile(name="x", jitter="reorder", corrupt=0.1, duplicate=0.015, limit_frames=7),
            ["limit 7 corrupt 10.000000% duplicate 1.500000%"],
        ),
        (
            PROFILES["reorder-25"].model_copy(update={"rate_bps": 0, "limit_frames": 7}),
            ["limit 7 delay 10000.0us reorder 25.000000%"],
        ),
    ],
)
def test_a_profile_becomes_netem_stages(profile: LinkProfile, expected: list[str]) -> None:
    assert stages(profile) == expected

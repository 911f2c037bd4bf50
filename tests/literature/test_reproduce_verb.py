"""The verb `reproduce` as a user meets it: a small real reproduction, and every mistake answered with one line."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import typer
from chromium_page import Browser
from lab import COMSECLAB, comseclab, footprint, one_line

from comseclab.cli.reproduce import reproduce
from comseclab.errors import LabError
from comseclab.literature import selection

NOTHING: dict[str, Any] = {
    "quick": False, "today": False, "mtu_1500": False, "only": None, "resume": False, "run": None,
}  # fmt: skip
"""The verb's options, none given."""
SHORTER = {"plan": {"duration_s": 0.5, "drain_s": 0.2}, "stop": {"min_pairs": 2, "max_pairs": 2}}
ONE_CELL = "middleware=fastdds,reliability=best-effort,protection=none,link=localhost,workload=scan"


def test_a_small_reproduction_from_trials_to_its_page(
    tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(selection, "QUICK", SHORTER)
    before = footprint()
    with pytest.raises(typer.Exit) as ended:
        reproduce("martin2018", **{**NOTHING, "quick": True, "only": [ONE_CELL]}, out=tmp_path, dry_run=False)
    assert ended.value.exit_code == 0
    assert footprint() == before
    said = capsys.readouterr().err
    assert "1 cell, about" in said
    assert "not resolved  In general, security" in said
    run = (tmp_path / "latest").resolve()
    assert run.name.endswith("-martin2018-quick")
    _holds_the_cell(run)
    browser.open(run / "reproduction.html")
    row = browser.run("[...document.querySelectorAll('#table-1 tbody tr')].find(r => "
                      "r.querySelector('th').innerText === 'Fast DDS best effort').innerText")  # fmt: skip
    assert "89 ± 16" in row.replace("\u202f", "")
    assert "median" in row
    assert browser.run("document.querySelectorAll('#chart-figure-6 .wide svg [aria-label*=median]').length") > 0
    assert browser.console() == []
    _page_again(tmp_path, run)


def _holds_the_cell(run: Path) -> None:
    told = json.loads((run / "reproduction.json").read_text())
    measured = [cell for cell in told["cells"] if cell["trials"]]
    named = [(cell["configuration"], cell["network"], cell["sensor"]) for cell in measured]
    assert named == [("be", "localhost", "scan")]
    assert measured[0]["published_mean_ns"] == 89_000
    assert 10_000 < measured[0]["mean_ns"] < 1_000_000_000
    assert (run / "report.html").is_file()
    assert (run / "summary.json").is_file()


def _page_again(out: Path, run: Path) -> None:
    """A finished run is measured no further; --from and --resume both write its page again."""
    trials = sorted(path.name for path in (run / "trials").iterdir())
    for again in (["--from", run], ["--quick", "--resume", "--out", out]):
        (run / "reproduction.html").unlink()
        done = comseclab("reproduce", "martin2018", *again, cwd=out)
        assert (run / "reproduction.html").is_file()
        assert f"reproduction: {run / 'reproduction.html'}" in done.stderr.replace("\n", "").replace(":/", ": /")
    assert sorted(path.name for path in (run / "trials").iterdir()) == trials


def test_an_unknown_study_is_one_line(tmp_path: Path) -> None:
    line = one_line(comseclab("reproduce", "martin2081", cwd=tmp_path, expect=2))
    assert 'no study "martin2081"; did you mean "martin2018"?' in line


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"only": ["middleware=fastddss"]}, 'did you mean "fastdds"?'),
        ({"only": ["link=wifi"]}, 'no link "wifi"'),
        ({"only": ["protection=mtls"]}, "lacks its baseline"),
        ({"resume": True}, "no run martin2018 "),
        ({"resume": True, "quick": True}, "no run martin2018-quick "),
        ({"resume": True, "today": True}, "leave the options"),
        ({"run": Path("nowhere")}, "is not a run folder"),
        ({"run": Path("nowhere"), "quick": True}, "leave the options"),
    ],
)
def test_other_mistakes(tmp_path: Path, options: dict[str, Any], told: str) -> None:
    with pytest.raises(LabError, match=re.escape(told)):
        reproduce("martin2018", **{**NOTHING, **options}, out=tmp_path, dry_run=False)


def test_a_missing_stack_needs_a_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of native programs that lacks one stack's transport stands for a machine without it."""
    built = COMSECLAB.parents[2] / "build" / "bin"
    if not (built / "libcomseclab-ice.so").exists():
        pytest.skip("the native programs are not built: ./comseclab build")
    (tmp_path / "build" / "bin").mkdir(parents=True)
    for program in built.iterdir():
        if program.name != "libcomseclab-ice.so":
            (tmp_path / "build" / "bin" / program.name).symlink_to(program.resolve())
    monkeypatch.setenv("COMSECLAB_BUILD", str(tmp_path / "build"))
    line = one_line(comseclab("reproduce", "martin2018", "--quick", "--dry-run", cwd=tmp_path, expect=2))
    assert "ice is not installed" in line
    remedy = line.partition("--only ")[2].rstrip(")")
    assert remedy == "middleware=ros1,middleware=fastdds"
    done = comseclab("reproduce", "martin2018", "--quick", "--dry-run", "--only", remedy, cwd=tmp_path)
    assert "63 cases" in done.stdout
    shutil.rmtree(tmp_path / "build")


def test_a_dry_run_lists_the_cells(tmp_path: Path) -> None:
    text = comseclab("reproduce", "martin2018", "--quick", "--today", "--dry-run", cwd=tmp_path).stdout
    assert "153 cases, 4 pairs each" in text
    assert not (tmp_path / "runs").exists()


def test_help_has_examples(tmp_path: Path) -> None:
    text = comseclab("reproduce", "--help", cwd=tmp_path).stdout
    for part in ("martin2018 --quick", "--today", "--mtu-1500", "--resume", "--from"):
        assert part in text

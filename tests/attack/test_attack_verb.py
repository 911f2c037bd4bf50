"""The verb `attack`, as a user calls it, on transports whose protection holds what it claims, or does not."""

import gzip
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli.lab import COMSECLAB, comseclab, footprint, gone, marked, one_line, untouched
from comseclab.attack.deliveries import MOST_FALSE
from comseclab.attack.matrix import CellRow, Matrix
from comseclab.errors import LabError
from comseclab.results.store import ATTACK_PLAN, RunFolder

ROOT = Path(__file__).parents[2]
KEY = "0123456789abcdef" * 4

PLAN = f"""
[plan]
name = "claims"
[factors]
middleware = "claims"
reliability = "reliable"
protection = ["none", "honest", "accepting", "leaking"]
link = "direct"
[attack]
attacks = ["eavesdrop", "modify", "forged-publish"]
repetitions = 1
require = ["forged-publish"]
[transports.claims]
library = "libclaims.so"
[transports.claims.settings]
listen = "{{address}}:7400"
peers = ["{{peers}}"]
[transports.claims.protections]
honest.settings = {{sealed = true, key = "{KEY}"}}
accepting.settings = {{sealed = true, key = "{KEY}", defect = "accepts"}}
dropping.settings = {{sealed = true, key = "{KEY}", defect = "drops"}}
leaking.settings = {{sealed = true, key = "{KEY}", defect = "leaks"}}
"""
DROPPING = (
    PLAN.replace('"claims"\n[factors]', '"dropping"\n[factors]')
    .replace('["none", "honest", "accepting", "leaking"]', '["none", "dropping"]')
    .replace('["eavesdrop", "modify", "forged-publish"]', '["modify"]')
    .replace('["forged-publish"]', '["modify"]')
)
"""Of a stream that never arrives, every trial is repeated twice: one attack is enough."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plan and the transport it names."""
    folder = tmp_path_factory.mktemp("attack")
    source = Path(__file__).parent / "transports" / "claims.cpp"
    flags = ["-std=c++20", "-O0", "-fPIC", "-shared", "-fvisibility=hidden", "-Wno-subobject-linkage"]
    built = [
        "c++",
        *flags,
        "-I",
        ROOT / "native" / "node" / "include",
        source,
        "-o",
        folder / "libclaims.so",
        "-lcrypto",
    ]
    subprocess.run(built, check=True)
    (folder / "claims.toml").write_text(PLAN)
    (folder / "dropping.toml").write_text(DROPPING)
    return folder


@pytest.fixture(scope="module")
def dropping(place: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The protection that lets nothing through, attacked meanwhile: its trials are repeated one after the other."""
    command = [COMSECLAB, "attack", "dropping.toml", "--out", "dropping"]
    with subprocess.Popen(command, cwd=place, env=marked(), stderr=subprocess.DEVNULL) as process:
        yield process


@pytest.fixture(scope="module")
def attacked(place: Path, dropping: subprocess.Popen[bytes]) -> tuple[subprocess.CompletedProcess[str], Path]:
    """The whole matrix, attacked once."""
    assert dropping.poll() is None
    done = comseclab("attack", "claims.toml", cwd=place, expect=1)
    return done, (place / "runs" / "latest").resolve()


def cells(run: Path) -> dict[tuple[str, str], CellRow]:
    return {(cell.protection, cell.attack): cell for cell in Matrix.read(run).cells}


def test_what_protections_claim_and_do_is_told_apart(
    attacked: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    verdicts = {name: cell.verdict.value for name, cell in cells(attacked[1]).items()}
    expected = {
        "none": ("succeeded", "succeeded", "succeeded"),
        "honest": ("stopped", "stopped", "stopped"),
        "accepting": ("stopped", "succeeded", "succeeded"),
        "leaking": ("succeeded", "stopped", "stopped"),
    }
    attacks = ("eavesdrop", "modify", "forged-publish")
    assert verdicts == {
        (protection, attack): verdict
        for protection, row in expected.items()
        for attack, verdict in zip(attacks, row, strict=True)
    }


def test_a_stream_that_never_arrives_is_invalid_and_not_protected(
    dropping: subprocess.Popen[bytes], place: Path
) -> None:
    assert dropping.wait() == 3
    run = place / "dropping" / "latest"
    found = cells(run)
    assert found["none", "modify"].verdict == "succeeded"
    assert found["dropping", "modify"].verdict == "invalid"
    assert len(list((run / "trials").glob("*dropping*again-2"))) == 1


def test_a_broken_requirement_names_its_cell(attacked: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    done, run = attacked
    lines = [line for line in done.stderr.splitlines() if line.startswith("required")]
    assert len(lines) == 1
    assert "forged-publish on claims accepting: succeeded" in lines[0]
    assert f"{run.name}/attack.html" in done.stderr
    assert (run / "attack.html").is_file()


def test_a_transport_s_own_protection_is_proven_on_the_wire(
    attacked: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    found = cells(attacked[1])
    contradictions = {}
    for protection in ("none", "honest", "leaking"):
        for attack in ("eavesdrop", "modify"):
            record = json.loads((attacked[1] / found[protection, attack].evidence[0] / "record.json").read_text())
            assert record["proof"]["frames"] > 0
            contradictions.setdefault(protection, record["proof"]["contradictions"])
    assert contradictions == {
        "none": [],
        "honest": [],
        "leaking": ["a frame shows the payload, which should be hidden"],
    }


def test_every_trial_leaves_its_evidence(attacked: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    run = attacked[1]
    for (_, attack), cell in cells(run).items():
        for folder in (run / name for name in cell.evidence):
            spec, record = (json.loads((folder / f"{name}.json").read_text()) for name in ("spec", "record"))
            assert spec["trial"]["seed"]
            assert record["versions"] == {"claims": "1"}
            assert (folder / "evidence" / "wire.pcapng.gz").stat().st_size < 4_000_000
            assert (folder / "evidence" / "delivered.txt").stat().st_size
            if attack == "modify":
                assert (folder / "evidence" / "injected.hex").stat().st_size
            false = folder / "evidence" / "false.hex"
            kinds = [line.split()[2] for line in false.read_text().splitlines()[1:]] if false.exists() else []
            assert [kinds.count(kind) for kind in ("altered", "forged")] == [
                min(record["seen"][kind], MOST_FALSE) for kind in ("altered", "forged")
            ]


def test_altered_messages_stand_beside_what_was_sent(
    attacked: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    """The attack alters four bytes of a message in clear."""
    [folder] = cells(attacked[1])["none", "modify"].evidence
    _, *lines = (attacked[1] / folder / "evidence" / "false.hex").read_text().splitlines()
    assert lines
    for altered, sent in zip(map(str.split, lines[::2]), map(str.split, lines[1::2]), strict=True):
        assert (altered[2], sent[2], altered[1]) == ("altered", "sent", sent[1])
        pairs = zip(bytes.fromhex(altered[3]), bytes.fromhex(sent[3]), strict=True)
        assert sum(one != other for one, other in pairs) == 4


def test_the_command_of_a_cell_repeats_just_this_cell(
    attacked: tuple[subprocess.CompletedProcess[str], Path], place: Path
) -> None:
    before = attacked[1]
    cell = cells(before)["honest", "modify"]
    program, *arguments = shlex.split(cell.again)
    assert program == "comseclab"
    done = comseclab(*arguments, cwd=place)
    assert done.stderr.startswith("not required here: forged-publish (left out by --attack)\n")
    repeated = cells(place / "runs" / "latest")
    assert {name: found.verdict for name, found in repeated.items()} == {
        ("none", "modify"): "succeeded",
        ("honest", "modify"): "stopped",
    }
    [folder] = repeated["honest", "modify"].evidence
    seeds = [
        json.loads((run / folder / "spec.json").read_text())["trial"]["seed"]
        for run in (before, place / "runs" / "latest")
    ]
    assert seeds[0] == seeds[1]


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    while not condition():
        assert process.poll() is None, "it ended early"
        time.sleep(0.02)


def cut_off_compressing(trial: Path) -> bytes:
    """Make of a closed trial what a kill leaves while the capture is compressed; returns the capture."""
    packed = trial / "evidence" / "wire.pcapng.gz"
    capture = gzip.decompress(packed.read_bytes())
    packed.with_name(".wire.pcapng.gz.part").write_bytes(packed.read_bytes()[:1000])
    packed.with_suffix("").write_bytes(capture)
    packed.unlink()
    return capture


def test_attacks_cut_off_in_any_way_go_on(place: Path, tmp_path: Path) -> None:
    before = untouched(tmp_path)
    said = tmp_path / "said"
    # The node of the second, which nobody greets, is waited for: the first is closed long before it.
    chosen = ("--only", "protection=none", "--repetitions", "1", "--attack", "eavesdrop,forged-publish")

    def start(*arguments: str | Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen([COMSECLAB, "attack", *arguments], cwd=tmp_path, env=marked(), stderr=said.open("wb"))

    def unclosed() -> bool:
        return any(not (folder / "record.json").exists() for folder in (run / "trials").iterdir())

    process = start(place / "claims.toml", *chosen)
    wait_for(lambda: "1 of 2:" in said.read_text(), process)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 128 + signal.SIGINT
    assert gone(before)
    run = next(tmp_path.glob("runs/*-claims-attack"))
    assert f"continue with: comseclab attack {run.relative_to(tmp_path)} --resume" in said.read_text()
    left_out = "not required here: forged-publish on 3 of 3 protected configurations (left out by --only)\n"
    assert said.read_text().startswith(left_out)
    kept = {path: path.read_bytes() for path in run.glob("trials/*/record.json")}
    assert len(kept) == len(list((run / "trials").iterdir())) == 1

    described = (run / "environment.json").read_bytes()
    process = start(place / "claims.toml", "--resume")
    wait_for(unclosed, process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM
    assert gone(before)
    assert {path.parent for path in kept} == set((run / "trials").iterdir())

    process = start(run, "--resume")
    wait_for(unclosed, process)
    with pytest.raises(LabError, match="worked on by another laboratory"), RunFolder(run).claimed():
        pass
    process.kill()
    process.wait()
    for _ in range(100):
        if not footprint()["processes"]:
            break
        time.sleep(0.05)
    assert not footprint()["processes"]
    with RunFolder(run).claimed():
        refused = comseclab("attack", run, "--resume", cwd=tmp_path, expect=2)
    assert "worked on by another laboratory" in one_line(refused)
    assert "unfinished trial" in comseclab("clean", cwd=tmp_path).stdout
    assert gone(before)

    trial = min(kept).parent
    capture = cut_off_compressing(trial)
    comseclab("attack", run, "--resume", cwd=tmp_path)
    assert gzip.decompress((trial / "evidence" / "wire.pcapng.gz").read_bytes()) == capture
    assert not [*(trial / "evidence").glob("*.pcapng"), *(trial / "evidence").glob(".*")]
    assert all(path.read_bytes() == content for path, content in kept.items())
    assert (run / "environment.json").read_bytes() == described
    assert Matrix.read(run).environment == json.loads(described)
    ended = {name: (cell.verdict, len(cell.evidence)) for (_, name), cell in cells(run).items()}
    assert ended == dict.fromkeys(("eavesdrop", "forged-publish"), ("succeeded", 1))


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["claims.toml", "--attack", "modifi"], 'did you mean "modify"'),
        (["claims.toml", "--only", "protection=sealed"], 'no protection "sealed"'),
        (["claims.toml", "--resume", "--attack", "modify"], "leave --only, --attack"),
        (["claims.toml", "--resume", "--out", "elsewhere"], "no run claims-attack"),
        (["claims.toml", "--out", "claims.toml"], "claims.toml"),
        (["claims.toml", "--cost", "."], "summary.json"),
        (["claims.toml", "--attack", "modify,replays"], 'did you mean "replay"'),
        ([".", "--dry-run"], "not a run folder"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(place: Path, arguments: list[str], cause: str) -> None:
    assert cause in one_line(comseclab("attack", *arguments, cwd=place, expect=2))


def test_messages_of_several_frames_are_refused(place: Path, tmp_path: Path) -> None:
    text = PLAN.replace("libclaims.so", str(place / "libclaims.so")).replace("[attack]", '[attack]\nworkload = "image"')
    (tmp_path / "large.toml").write_text(text)
    for more in ((), ("--dry-run",)):
        assert "several frames" in one_line(comseclab("attack", "large.toml", *more, cwd=tmp_path, expect=2))
    assert not (tmp_path / "runs").exists()


def test_a_full_disk_says_how_to_go_on(place: Path, tmp_path: Path) -> None:
    script = "mkdir small && mount -t tmpfs -o size=1m none small && "
    script += f"{COMSECLAB} attack {place / 'claims.toml'} --out small --only protection=none"
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    done = subprocess.run(
        ["unshare", *user, "--mount", "sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    line = one_line(done)
    assert "disk" in line
    assert "--resume" in line


def test_a_disk_that_fills_while_a_capture_is_compressed_costs_no_frame(tmp_path: Path) -> None:
    script = """
mkdir small && mount -t tmpfs -o size=160k none small && mkdir small/evidence
head -c 100000 /dev/urandom > small/evidence/wire.pcapng && cp small/evidence/wire.pcapng .
"$0" -c 'import pathlib, comseclab.attack.launch as launch; launch.compress_capture(pathlib.Path("small"))'
ls -A small/evidence && cmp wire.pcapng small/evidence/wire.pcapng"""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    command = ["unshare", *user, "--mount", "sh", "-c", script, sys.executable]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "No space left" in done.stderr
    assert (done.stdout, done.returncode) == ("wire.pcapng\n", 0)


def test_dry_run_makes_nothing(place: Path, tmp_path: Path) -> None:
    done = comseclab("attack", place / "claims.toml", "--dry-run", cwd=tmp_path)
    assert "12 cells, 12 trials" in done.stdout
    assert not list(tmp_path.iterdir())


def test_an_attack_named_twice_is_tried_once(place: Path, tmp_path: Path) -> None:
    done = comseclab("attack", place / "claims.toml", "--attack", "modify,modify", "--dry-run", cwd=tmp_path)
    assert "4 cells, 4 trials" in done.stdout


def test_what_is_required_stays_so_when_all_attacks_are_chosen(place: Path) -> None:
    (place / "hijack.toml").write_text(PLAN.replace('require = ["forged-publish"]', 'require = ["master-hijack"]'))
    done = comseclab("attack", "hijack.toml", "--attack", "all", "--dry-run", cwd=place, expect=2)
    assert '"master-hijack" is tried on no protected configuration' in one_line(done)


def test_a_run_folder_can_be_repeated(attacked: tuple[subprocess.CompletedProcess[str], Path], place: Path) -> None:
    done = comseclab("attack", attacked[1], "--dry-run", "--repetitions", "2", cwd=place)
    assert "12 cells, 24 trials" in done.stdout
    assert (attacked[1] / ATTACK_PLAN).is_file()

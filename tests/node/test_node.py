"""Publishers, subscribers and echoes, run for real over the example transport on loopback."""

import json
import subprocess
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from comseclab.results.samples import RECEIPT, SEND, join, read_kept, read_records
from comseclab.workload.spool import Spool
from comseclab.workload.types import standard_type
from node import messages
from node.lab import PROGRAM, TIMEOUT_S, Lab, Peer, spool, stream, trial, wait_for

COUNT = 40
UNDERSTATED = 60_000
"""What the example transport takes, said of a stream with larger messages: they get as far as publish()."""


def payloads(kind: str, count: int = COUNT) -> tuple[str, list[bytes]]:
    generator = np.random.default_rng(7)
    if kind == "opaque":
        return "", [generator.bytes(500 + index) for index in range(count)]
    made = [getattr(messages, kind)(generator) for _ in range(count)]
    return made[0].__msgtype__, [messages.cdr(message) for message in made]


def spooled(lab: Lab, kind: str, count: int = COUNT) -> Spool:
    name, bodies = payloads(kind, count)
    if name:
        lab.types |= standard_type(name).description
    return spool(lab.folder / kind, name, bodies)


def samples(lab: Lab, nodes: list[str], readers: dict[int, list[int]]) -> pl.DataFrame:
    sends = [read_records(lab.records("writer") / "sends.bin", SEND)]
    receipts = [read_records(lab.records(node) / "receipts.bin", RECEIPT) for node in nodes]
    return pl.DataFrame(pl.from_arrow(join(sends, receipts, {key: list(value) for key, value in readers.items()})))


def assert_complete(table: pl.DataFrame, count: int) -> None:
    """Every message once, in order, none foreign, its stages in order of time."""
    assert table["index"].to_list() == list(range(count))
    assert table["order"].to_list() == list(range(count))
    assert table["taken"].all()
    assert not table["foreign"].any()
    times = table.select("begin_ns", "serialised_ns", "sent_ns").to_numpy()
    assert (np.diff(times, axis=1) >= 0).all()
    assert (table["arrived_ns"] > table["begin_ns"]).all()
    assert (table["done_ns"] >= table["arrived_ns"]).all()
    assert (table["begin_ns"] >= table["intended_ns"]).all()


@pytest.mark.parametrize("codec", ["cdr", "ros1"])
@pytest.mark.parametrize("kind", ["scan", "twist", "tf", "opaque"])
def test_stream(lab: Lab, kind: str, codec: str) -> None:
    written = spooled(lab, kind)
    one = stream(written, codec=codec)
    closed = trial(lab, lab.config("writer", "publisher", [one]), [lab.config("reader", "subscriber", [one])])
    assert_complete(table := samples(lab, ["reader"], {0: [0]}), COUNT)
    assert table["size"].max() == written.max_size[codec]
    assert np.diff(table["intended_ns"].to_numpy()).tolist() == [2_000_000] * (COUNT - 1)
    assert closed["writer"]["refused"] == {"0": 0}
    assert closed["reader"]["foreign"] == closed["reader"]["decode_failed"] == 0
    assert closed["writer"]["not_recorded"] == closed["reader"]["not_recorded"] == 0
    assert closed["writer"]["statistics"]["udp"]["messages_sent"] == COUNT


def test_two_readers(lab: Lab) -> None:
    written = spooled(lab, "twist")
    readers = [lab.config(f"reader{n}", "subscriber", [stream(written, reader=n)]) for n in range(2)]
    trial(lab, lab.config("writer", "publisher", [stream(written)]), readers)
    table = samples(lab, ["reader0", "reader1"], {0: [0, 1]})
    for reader in range(2):
        assert_complete(table.filter(reader=reader), COUNT)


def test_several_streams_and_rounds(lab: Lab) -> None:
    streams = [stream(spooled(lab, kind), number=n) for n, kind in enumerate(("scan", "twist", "opaque"))]
    publisher = lab.config("writer", "publisher", streams, rounds=2)
    trial(lab, publisher, [lab.config("reader", "subscriber", streams, rounds=2)], rounds=2)
    table = samples(lab, ["reader"], {0: [0], 1: [0], 2: [0]})
    for number in range(3):
        for round_number in range(2):
            part = table.filter(stream=number, round=round_number)
            assert part["index"].to_list() == list(range(COUNT))
            assert (part["copy"] == 0).all()
            assert part["arrived_ns"].null_count() == 0


@pytest.mark.parametrize("kind", ["scan", "twist", "opaque"])
def test_echo(lab: Lab, kind: str) -> None:
    one = stream(spooled(lab, kind), echo=True)
    trial(lab, lab.config("writer", "publisher", [one]), [lab.config("mirror", "echo", [one])])
    there, back = (read_records(lab.records(node) / "receipts.bin", RECEIPT) for node in ("mirror", "writer"))
    sends = read_records(lab.records("writer") / "sends.bin", SEND)
    assert len(sends) >= COUNT // 2
    assert (sends["intended"] == sends["begin"]).all()
    assert (back["stream"] == 0).all()
    assert back["index"].tolist() == there["index"].tolist() == sends["index"].tolist()
    assert (back["arrived"] > there["done"]).all()
    # Closed loop: a message leaves only when the reply to the one before has come.
    assert (sends["begin"][1:] > back["arrived"][:-1]).all()
    assert not (lab.records("mirror") / "sends.bin").stat().st_size


def test_a_closed_loop_without_replies_goes_on_and_ends_with_its_schedule(lab: Lab) -> None:
    _, bodies = payloads("opaque", 1500)
    program = lab.start(
        lab.config("writer", "publisher", [stream(spool(lab.folder / "o", "", bodies, 1000), echo=True)])
    )
    wait_for([program], "ready")
    program.send({"command": "start", "round": 0, "at_ns": time.monotonic_ns()})
    wait_for([program], "finished")
    assert program.end(TIMEOUT_S) == 0
    begins = read_records(lab.records("writer") / "sends.bin", SEND)["begin"]
    assert len(begins) in (2, 3)
    assert begins[1] - begins[0] >= 1_000_000_000
    assert program.of("closed")[0]["dry"] == 0


@pytest.mark.parametrize("kind", ["scan", "opaque"])
def test_kept_messages_are_the_bytes_that_were_sent(lab: Lab, kind: str) -> None:
    """The reader keeps what the wire brought, the writer what it gave away; one keeps more than there is."""
    one = stream(spooled(lab, kind))
    writer = lab.config("writer", "publisher", [one]) | {"keep_bytes": 65536}
    trial(lab, writer, [lab.config("reader", "subscriber", [one]) | {"keep_bytes": 100}])
    sends = read_records(lab.records("writer") / "sends.bin", SEND)
    receipts = read_records(lab.records("reader") / "receipts.bin", RECEIPT)
    sent, received = read_kept(lab.records("writer") / "sent.bin"), read_kept(lab.records("reader") / "received.bin")
    assert [len(message) for message in sent] == sends["size"].tolist()
    assert len(set(sent)) == len(sent) == COUNT
    assert received == [sent[index][:100] for index in receipts["index"]]
    assert len(received) == COUNT
    bodies = payloads(kind)[1]
    assert [message[-50:] for message in sent] == [body[-50:] for body in bodies]
    assert read_kept(lab.records("writer") / "received.bin") == read_kept(lab.records("reader") / "sent.bin") == []


def test_messages_of_strangers_are_kept_as_they_came(lab: Lab) -> None:
    one = stream(spooled(lab, "scan"))
    given = [b"x", bytes(range(200)), b"y" * 3000]
    with closing(Peer(lab, one)) as peer:
        program = lab.start(lab.config("reader", "subscriber", [one]) | {"keep_bytes": 1 << 16})
        try:
            wait_for([program], "ready")
            for message in given:
                peer.send("/topic0", message)
            time.sleep(0.3)
        finally:
            assert program.end(TIMEOUT_S) == 0
    assert read_kept(lab.records("reader") / "received.bin") == given
    assert (read_records(lab.records("reader") / "receipts.bin", RECEIPT)["flags"] == 3).all()


def test_nothing_is_kept_unless_asked_for(lab: Lab) -> None:
    one = stream(spooled(lab, "twist"))
    trial(lab, lab.config("writer", "publisher", [one]), [lab.config("reader", "subscriber", [one])])
    for node in ("writer", "reader"):
        assert {file.name for file in lab.records(node).iterdir()} == {"sends.bin", "receipts.bin"}


def test_kept_messages_cut_short_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "received.bin"
    whole = b"\x02\0\0\0ab" + b"\0\0\0\0" + b"\x01\0\0\0c"
    for length in range(len(whole) + 1):
        file.write_bytes(whole[:length])
        if length in (0, 6, 10, 15):
            assert read_kept(file) == [b"ab", b"", b"c"][: (0, 6, 10, 15).index(length)]
        else:
            with pytest.raises(ValueError, match=r"received\.bin"):
                read_kept(file)


def test_messages_of_another_trial_are_foreign(lab: Lab) -> None:
    written = spooled(lab, "scan")
    reader = lab.config("reader", "subscriber", [stream(written)])
    publisher = lab.config("writer", "publisher", [stream(written)]) | {"nonce": "fedcba9876543210"}
    closed = trial(lab, publisher, [reader])
    receipts = read_records(lab.records("reader") / "receipts.bin", RECEIPT)
    assert closed["reader"]["foreign"] == len(receipts) == COUNT
    assert (receipts["flags"] == 1).all()


def test_spooled_message_of_another_type(lab: Lab) -> None:
    name = spooled(lab, "scan", 4).type
    noise = spool(lab.folder / "noise", "", [bytes(range(100)) * 3] * 4)
    assert "message 0 of" in fatal(lab, lab.config("writer", "publisher", [stream(noise) | {"type": name}]))


def test_large_message_is_refused_by_the_transport(lab: Lab) -> None:
    one = stream(spool(lab.folder / "large", "", [bytes(70_000)] * 3)) | {"max_size": UNDERSTATED}
    closed = trial(lab, lab.config("writer", "publisher", [one]), [lab.config("reader", "subscriber", [one])])
    sends = read_records(lab.records("writer") / "sends.bin", SEND)
    assert sends["status"].tolist() == [2, 2, 2]
    assert closed["writer"]["refused"] == {"0": 3}


def test_memory_stays_bounded_however_long_the_spool(lab: Lab) -> None:
    """400 MB in all, of which the node may hold 256 MB decoded; it is only started, then told to stop."""
    written = spool(lab.folder / "big", "", [bytes(8_000_000)] * 50)
    program = lab.start(lab.config("writer", "publisher", [stream(written) | {"max_size": UNDERSTATED}]))
    try:
        wait_for([program], "ready")
        status = Path(f"/proc/{program.pid}/status").read_text()
        resident_kb = int(status.split("VmRSS:")[1].split()[0])
        assert 200_000 < resident_kb < 300_000
    finally:
        assert program.end(TIMEOUT_S) == 0


def test_end_of_input_means_stop(lab: Lab) -> None:
    one = stream(spooled(lab, "twist"))
    program = lab.start(lab.config("reader", "subscriber", [one]))
    wait_for([program], "ready")
    assert program.end(TIMEOUT_S) == 0
    assert (lab.records("reader") / "receipts.bin").stat().st_size == 0


def test_stop_in_the_middle_of_a_round(lab: Lab) -> None:
    _, bodies = payloads("opaque")
    program = lab.start(lab.config("writer", "publisher", [stream(spool(lab.folder / "slow", "", bodies, rate_hz=1))]))
    wait_for([program], "ready")
    program.send({"command": "start", "round": 0, "at_ns": 0})
    program.send({"command": "stop"})
    assert program.end(TIMEOUT_S) == 0
    sends = read_records(lab.records("writer") / "sends.bin", SEND)
    assert sends["index"].tolist() == list(range(len(sends)))


def test_a_message_above_the_transports_limit_is_told_before_anything_is_sent(lab: Lab) -> None:
    large = stream(spool(lab.folder, "", [bytes(65_500)]))
    assert "carries no message above 65499 bytes, and /topic0 has one of 65500" in fatal(
        lab, lab.config("writer", "publisher", [large])
    )


def fatal(lab: Lab, config: dict[str, Any], commands: list[str] | None = None) -> str:
    program = lab.start(config)
    for command in commands or []:
        program.send_line(command)
    code = program.end(TIMEOUT_S)
    (event,) = program.of("fatal")
    assert code == 2
    assert "\n" not in event["message"]
    return str(event["message"])


def test_wrong_configuration(lab: Lab) -> None:
    good = lab.config("writer", "publisher", [stream(spooled(lab, "scan"))])
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"role": "spectator"}, "role 'spectator'"),
        ({"nonce": "xyz"}, "nonce 'xyz'"),
        ({"version": 2}, "version is not 1"),
        ({"cpus": [4000]}, "CPU"),
        ({"rounds": 0}, "'rounds' is not an integer"),
        ({"streams": []}, "no streams"),
        ({"types": {}}, "unknown type sensor_msgs/msg/LaserScan"),
        ({"transports": [{"library": "/nowhere/lib.so", "settings": {}}]}, "cannot load transport"),
        ({"transports": [{"library": str(lab.library), "settings": {}}]}, "udp does not open"),
        ({"clock": good["clock"] | {"ticks_per_second": 0.0}}, "ticks_per_second"),
        ({"keep_bytes": -1}, "'keep_bytes' is not an integer"),
        ({"keep_bytes": (1 << 20) + 1}, "'keep_bytes' is above 1048576"),
        ({"keep_bytes": 1 << 20}, "takes more than 1 GiB"),
        ({"records": "/proc/none"}, "cannot make /proc/none"),
    ]
    for change, message in wrong:
        assert message in fatal(lab, good | change)
    for key in good.keys() - {"node"}:
        assert f"'{key}' is missing" in fatal(lab, {k: v for k, v in good.items() if k != key})
    for key in good["streams"][0].keys() - {"readers"}:
        one = {k: v for k, v in good["streams"][0].items() if k != key}
        assert f"'{key}' is missing" in fatal(lab, good | {"streams": [one]})


def test_wrong_commands(lab: Lab) -> None:
    good = lab.config("writer", "publisher", [stream(spooled(lab, "scan"))])
    for line in ("dance", '{"command": "dance"}', '{"command": "start"}', "[]", '{"command": 4}'):
        fatal(lab, good, [line])
    assert "out of turn" in fatal(lab, good, [json.dumps({"command": "start", "round": 1, "at_ns": 0})])


def test_wrong_spools(lab: Lab) -> None:
    written = spooled(lab, "scan")
    content = Path(written.path).read_bytes()
    other = lab.folder / "other.spool"
    config = lab.config("writer", "publisher", [stream(written) | {"spool": str(other)}])
    assert "No such file" in fatal(lab, config)
    for body, message in (
        (b"", "truncated"),
        (content[:40], "truncated"),
        (content[:-1], "truncated"),
        (b"X" + content[1:], "not a spool"),
        (content[:8] + b"\x02" + content[9:], "version"),
        (content[:16] + bytes(8) + content[24:], "empty"),
        (content[:24] + b"\xff" * 8 + content[32:], "truncated"),
        (content[:-16] + b"\xff" * 8 + content[-8:], "outside the file"),
    ):
        other.write_bytes(body)
        assert message in fatal(lab, config)
    other.write_bytes(content)
    config["streams"][0]["messages"] += 1
    assert "holds 40 messages, 41 are asked for" in fatal(lab, config)


def test_unreadable_configuration(lab: Lab) -> None:
    path = lab.folder / "config.json"
    for body, message in ((None, "cannot read"), ("{", "not a JSON object"), ("[]", "not a JSON object")):
        if body is not None:
            path.write_text(body)
        done = subprocess.run([PROGRAM, path], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert message in json.loads(done.stdout)["message"]

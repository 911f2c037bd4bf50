"""How the node of a DDS insider is opened: what it is granted, and which permissions it shows to others.

A node of the stack refuses by itself what its documents do not grant; an attacker's program would not. So an insider's
node is made to grant itself everything. In all else it goes by the genuine governance: the victims alone decide.
"""

import fcntl
import os
import struct
import termios
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from cryptography import x509

from comseclab.errors import LabError
from comseclab.protection import documents
from comseclab.protection.authority import Authority, write_certificate
from comseclab.protection.keystore import load_certificate, load_key

Files = Mapping[str, Path]
INSIDERS_CA = x509.Name.from_rfc4514_string("CN=insider")
LOOK_EVERY_S = 0.001


def itself(files: Files) -> Authority:
    """An insider as a signer of permissions, with the key of its identity.

    Its certificate is a valid one of the identity CA, which may be the permissions CA too, as sros2 makes it.
    """
    return Authority(load_certificate(files["certificate"]), load_key(files["key"]))


def granted_by(
    signer: Authority, files: Files, writes: frozenset[str], reads: frozenset[str], domain: int, path: Path
) -> Path:
    """Permissions that grant an insider what it likes, written to `path`."""
    return _write(path, signer.sign(_granting(files, writes, reads, domain)))


def of_fastdds(
    files: Files, writes: frozenset[str], reads: frozenset[str], domain: int, shown: Path, folder: Path
) -> Files:
    """The files of an insider whose own node of Fast DDS may do what it likes, and shows others the file `shown`.

    The stack reads its permissions twice, first to know its rights, then to have what it shows. It takes the first from
    an authority of the insider's own, behind the genuine one, by which it goes on to judge others.
    """
    own = Authority.create(INSIDERS_CA)
    certificate = write_certificate(folder / "own_ca.cert.pem", own.certificate)
    believed = files["permissions_ca"].read_bytes() + certificate.read_bytes()
    first = own.sign(_granting(files, writes, reads, domain))
    return {
        **files,
        "permissions_ca": _write(folder / "permissions_ca.cert.pem", believed),
        "permissions": _changing(folder / "permissions.p7s", first, shown.read_bytes()),
    }


def of_cyclonedds(files: Files, shown: Path, folder: Path) -> Files:
    """The files of an insider whose own node of Cyclone DDS has the laboratory's plugin, and shows others `shown`."""
    _write(folder / "permissions.p7s.shown", shown.read_bytes())
    return {**files, "permissions": _write(folder / "permissions.p7s", files["permissions"].read_bytes())}


def _granting(files: Files, writes: frozenset[str], reads: frozenset[str], domain: int) -> str:
    subject = load_certificate(files["certificate"]).subject.rfc4514_string()
    return documents.permissions(subject, writes, reads, domain)


def with_plugin(configuration: str, native: Path) -> str:
    """A node's configuration of Cyclone DDS, with the laboratory's plugin by which it grants itself everything.

    Raises LabError where the plugin (native/transports/cyclonedds/insider) is not among the native programs.
    """
    library = native / "libcomseclab-cyclonedds-insider.so"
    if not library.exists():
        raise LabError(f"the access control of insiders {library} is missing", "make it with `comseclab build`")
    root = ElementTree.fromstring(configuration)
    control = root.find("Domain/Security/AccessControl")
    assert control is not None, "an insider has documents"
    functions = {"initFunction": "comseclab_init_insider", "finalizeFunction": "comseclab_finalize_insider"}
    ElementTree.SubElement(control, "Library", {"path": str(library), **functions})
    return ElementTree.tostring(root, encoding="unicode")


def _changing(path: Path, first: bytes, then: bytes) -> Path:
    """A file that reads as `first` once, from beginning to end, and as `then` from there on; opening alone is nothing.

    A pipe stands there until half of `first` is read. Its reader cannot be done before the other half has come, and by
    then the file that it may open next is in place.
    """
    after = _write(path.with_suffix(".then"), then)
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR)
    half = len(first) // 2
    os.write(pipe, first[:half])

    def change() -> None:
        while _unread(pipe):
            time.sleep(LOOK_EVERY_S)
        after.replace(path)
        os.write(pipe, first[half:])
        os.close(pipe)

    threading.Thread(target=change, daemon=True).start()
    return path


def _unread(pipe: int) -> int:
    """Bytes in a pipe that nobody has read yet."""
    (count,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))
    return int(count)


def _write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path

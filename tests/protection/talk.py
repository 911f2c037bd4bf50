"""Connections over lo: `python talk.py FOLDER HOW...`, HOW of each is "tcp", "tls", or "hello" (TCP, no sentinel).

FOLDER holds ca.pem, cert.pem and key.pem for both ends. The sentinel comes on standard input.
"""

import socket
import ssl
import sys
import threading
from pathlib import Path

SIZE = 50_000


def context(purpose: ssl.Purpose, folder: Path) -> ssl.SSLContext:
    made = ssl.create_default_context(purpose, cafile=str(folder / "ca.pem"))
    made.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    made.verify_mode = ssl.CERT_REQUIRED
    return made


def serve(listening: socket.socket, how: str, folder: Path) -> None:
    connection, _ = listening.accept()
    if how == "tls":
        connection = context(ssl.Purpose.CLIENT_AUTH, folder).wrap_socket(connection, server_side=True)
    while connection.recv(1 << 16):
        pass


def talk(how: str, folder: Path, message: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = threading.Thread(target=serve, args=(listening, how, folder))
        server.start()
        client = socket.create_connection(listening.getsockname())
        if how == "tls":
            client = context(ssl.Purpose.SERVER_AUTH, folder).wrap_socket(client, server_hostname="127.0.0.1")
        client.sendall(b"hello" if how == "hello" else message)
        client.close()
        server.join()


def main() -> None:
    folder, sentinel = Path(sys.argv[1]), sys.stdin.buffer.read()
    for how in sys.argv[2:]:
        talk(how, folder, b"HDR1" + sentinel + bytes(SIZE))


main()

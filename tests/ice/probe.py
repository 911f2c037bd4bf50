"""What TCP ports on 127.0.0.1 answer: `python probe.py JSON`, JSON {"ports": [...], "identities": {NAME: FILES}}.

FILES: null to connect without TLS, else {"identity_ca"} and, unless there is none to show, {"certificate", "key"}.
Prints {NAME: {PORT: [bytes received in hexadecimal, error]}}. An Ice server speaks first on a connection it accepts.
"""

import json
import socket
import ssl
import sys
from concurrent.futures import ThreadPoolExecutor

ANSWER_S = 2.0


def probe(port: int, files: dict[str, str] | None) -> tuple[str, str]:
    with socket.create_connection(("127.0.0.1", port), ANSWER_S) as plain:
        try:
            if files is None:
                return plain.recv(64).hex(), ""
            context = ssl.create_default_context(cafile=files["identity_ca"])
            if "certificate" in files:
                context.load_cert_chain(files["certificate"], files["key"])
            with context.wrap_socket(plain, server_hostname="127.0.0.1") as secured:
                return secured.recv(64).hex(), ""
        except OSError as error:
            return "", str(error)


def main() -> None:
    asked = json.loads(sys.argv[1])
    with ThreadPoolExecutor(len(asked["ports"]) * len(asked["identities"])) as pool:
        running = {
            name: {port: pool.submit(probe, port, files) for port in asked["ports"]}
            for name, files in asked["identities"].items()
        }
    print(json.dumps({name: {port: ran.result() for port, ran in ports.items()} for name, ports in running.items()}))


if __name__ == "__main__":
    main()

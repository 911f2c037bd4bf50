"""Process 1 of a User-Mode Linux whose root is the host's file system, read-only.

`guest.py FOLDER`: makes the few writable places, runs the command named in FOLDER/command.json, leaves its output
in FOLDER/output and its exit code in FOLDER/exit, and switches the guest off. FOLDER alone is shared with the host.
"""

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

MODULES = Path("/usr/lib/uml/modules")
POWER_OFF = 0x4321FEDC  # LINUX_REBOOT_CMD_POWER_OFF of reboot(2)

libc = ctypes.CDLL(None, use_errno=True)


def mount(kind: str, target: str, options: str = "") -> None:
    if libc.mount(kind.encode(), target.encode(), kind.encode(), 0, options.encode()) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"mount {kind} on {target}: {os.strerror(error)}")


def load_modules_on_demand() -> None:
    """Let the kernel find its modules, which Debian does not keep under /lib/modules."""
    tree = Path("/run/kernel/lib/modules")
    tree.mkdir(parents=True)
    (tree / os.uname().release).symlink_to(MODULES / os.uname().release)
    wrapper = Path("/run/kernel/modprobe")
    wrapper.write_text('#!/bin/sh\nexec /sbin/modprobe -d /run/kernel "$@"\n')
    wrapper.chmod(0o755)
    Path("/proc/sys/kernel/modprobe").write_text(str(wrapper))


def main(folder: str) -> None:
    if os.getpid() != 1:
        sys.exit("guest.py runs as process 1 of a User-Mode Linux only")
    mount("proc", "/proc")
    mount("sysfs", "/sys")
    mount("tmpfs", "/run")
    shared = Path("/run/shared")
    shared.mkdir()
    mount("hostfs", str(shared), options=folder)
    os.environ.update(PATH="/usr/sbin:/usr/bin:/sbin:/bin", HOME="/run", TMPDIR="/run", PYTHONDONTWRITEBYTECODE="1")
    if (MODULES / os.uname().release).is_dir():
        load_modules_on_demand()
    command = json.loads((shared / "command.json").read_text())
    with (shared / "output").open("wb") as output:
        code = subprocess.run(command, cwd=shared, stdout=output, stderr=output, check=False).returncode
    (shared / "exit").write_text(str(code))
    libc.sync()
    libc.reboot(POWER_OFF)


main(sys.argv[1])

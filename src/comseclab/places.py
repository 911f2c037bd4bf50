"""Where the parts that are not Python are, in a checkout and in an installed package, and how they are built."""

import os
import shutil
import subprocess
from itertools import chain
from pathlib import Path

from comseclab.errors import LabError

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parents[1]
IN_CHECKOUT = (CHECKOUT / "native" / "CMakeLists.txt").is_file()
PARTS = CHECKOUT if IN_CHECKOUT else PACKAGE
"""Holds `native/` and `plans/`."""


def build_folder() -> Path:
    """Where native programs are built: in the checkout, else in the user's cache. COMSECLAB_BUILD names another."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "comseclab"
    return Path(os.environ.get("COMSECLAB_BUILD", CHECKOUT / "build" if IN_CHECKOUT else cache))


def shipped_plan(name: str) -> Path:
    """The plan of that name that ships with comseclab."""
    return PARTS / "plans" / f"{name}.toml"


def native_programs() -> Path:
    """The folder of the built native programs. Raises LabError when they are not built."""
    folder = build_folder() / "bin"
    if not (folder / "comseclab-node").exists():
        raise LabError(f"no native programs in {folder}", "make them with `comseclab build`")
    return folder


def build_native(*, with_tests: bool) -> None:
    """Build node, transports and link. Raises LabError when a tool is missing or a build fails."""
    for tool in ("cargo", "cmake", "ninja", "c++"):
        if shutil.which(tool) is None:
            raise LabError(f"{tool} is not installed", "sudo apt-get install cargo-web rustc-web cmake ninja-build g++")
    build, source = build_folder(), PARTS / "native"
    cargo, native = build / "cargo", build / "native"
    options = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", f"-DCOMSECLAB_TESTS={'ON' if with_tests else 'OFF'}"]
    crates = [source / "link", *sorted(path.parent for path in source.glob("transports/*/Cargo.toml"))]
    to_build: list[str | Path] = ["cargo", "build", "--release", "--locked", "--target-dir", cargo, "--manifest-path"]
    commands: list[list[str | Path]] = [
        *([*to_build, crate / "Cargo.toml"] for crate in crates),
        ["cmake", "-S", source, "-B", native, *options],
        ["cmake", "--build", native],
    ]
    for command in commands:
        if subprocess.run(command, check=False).returncode:
            raise LabError(f"building failed at: {' '.join(map(str, command[:2]))}", "its own messages stand above")
    built = [(native / "bin").iterdir(), *map((cargo / "release").glob, ("comseclab-*", "libcomseclab_*.so"))]
    _collect(list(chain.from_iterable(built)), build / "bin")


def _collect(built: list[Path], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for program in built:
        if program.suffix != ".d" and program.is_file():
            link = folder / program.name
            link.unlink(missing_ok=True)
            link.symlink_to(os.path.relpath(program, folder))

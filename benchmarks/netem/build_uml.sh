#!/bin/sh
# Builds the oracle: Linux 6.1 of Debian as a User-Mode Linux process with `time-travel`, in which netem runs in
# virtual time, free of the host's noise. Prints the path of the kernel; does nothing more when it is built already.
# Needs gcc, make, flex, bison, bc and, once, Debian's package archive. Takes some minutes.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/comseclab/netem-oracle
kernel=$cache/linux
stamp=$(cat "$here/kernel.config" "$0" | sha256sum | cut -d' ' -f1)

if [ -x "$kernel" ] && [ "$(cat "$cache/stamp" 2>/dev/null)" = "$stamp" ]; then
    echo "$kernel"
    exit 0
fi
for tool in gcc make flex bison bc dpkg-deb; do
    command -v "$tool" >/dev/null || { echo "$tool is missing (apt-get install gcc make flex bison bc)" >&2; exit 2; }
done

mkdir -p "$cache"
work=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work"
{
    apt-get download linux-source-6.1
    dpkg-deb --extract linux-source-6.1_*.deb .
    tar -xf usr/src/linux-source-6.1.tar.xz
    cd linux-source-6.1
    make ARCH=um KCONFIG_ALLCONFIG="$here/kernel.config" allnoconfig
    nice -n 15 make ARCH=um -j2 linux
    strip -o "$kernel" linux
    echo "$stamp" >"$cache/stamp"
} >&2
echo "$kernel"

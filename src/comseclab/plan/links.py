"""The link profiles every plan knows by name. A plan adds its own under [links.NAME].

- `ethernet`, `wifi`: Gigabit Ethernet and WiFi as Martin, Soriano and Canas measured and emulated them (2018, on
  emulated networks): normal delay 0.3 +- 0.36 ms at 1000 Mbit/s without loss, and 13 +- 22 ms at 54 Mbit/s with 1 %
  loss. Here frames are an Ethernet's, at most 1500 B of IP, and keep their order, as on a wire.
- `ethernet-2018`, `wifi-2018`: the same figures with the study's side effects: netem on the loopback device acts on
  packets of up to 65535 B, and lets them overtake each other.
- `delay-*`, `loss-*`, `corrupt-*`: the disturbances of the communication resilience tests of OFERA deliverable D5.4
  (2020, section 3.1.9), on an otherwise perfect Gigabit link.
- `duplicate-1`, `reorder-25`: the examples of Hemminger, "Network Emulation with NetEm" (2005): 1 % duplicated; 25 %
  sent at once, ahead of the others' 10 ms.
- `localhost`: all nodes in one namespace over lo, with its usual MTU. `direct`: hosts joined without emulation.
"""

from comseclab.testbed.profile import LinkProfile

MBIT = 1_000_000
GIGABIT = 1000 * MBIT
MS = 1_000_000

_ETHERNET = LinkProfile(name="ethernet", rate_bps=GIGABIT, delay_ns=300_000, jitter_ns=360_000)
_WIFI = LinkProfile(name="wifi", rate_bps=54 * MBIT, delay_ns=13 * MS, jitter_ns=22 * MS, loss=0.01)
_AS_IN_2018 = {"jitter": "reorder", "mtu": 65535}
_PERFECT = LinkProfile(name="perfect", rate_bps=GIGABIT)

PROFILES = {
    profile.name: profile
    for profile in (
        LinkProfile(name="localhost", kind="loopback", mtu=65535),
        LinkProfile(name="direct", kind="direct"),
        _ETHERNET,
        _WIFI,
        _ETHERNET.model_copy(update={"name": "ethernet-2018", **_AS_IN_2018}),
        _WIFI.model_copy(update={"name": "wifi-2018", **_AS_IN_2018}),
        _PERFECT.model_copy(update={"name": "delay-1000ms", "delay_ns": 1000 * MS}),
        _PERFECT.model_copy(update={"name": "delay-5000ms", "delay_ns": 5000 * MS}),
        _PERFECT.model_copy(update={"name": "loss-10", "loss": 0.10}),
        _PERFECT.model_copy(update={"name": "loss-60", "loss": 0.60}),
        _PERFECT.model_copy(update={"name": "corrupt-1", "corrupt": 0.01}),
        _PERFECT.model_copy(update={"name": "corrupt-10", "corrupt": 0.10}),
        _PERFECT.model_copy(update={"name": "duplicate-1", "duplicate": 0.01}),
        _PERFECT.model_copy(update={"name": "reorder-25", "delay_ns": 10 * MS, "reorder": 0.25, "jitter": "reorder"}),
    )
}

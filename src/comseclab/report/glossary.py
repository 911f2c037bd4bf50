"""What each number means, in a sentence; docs/methodology.md has the definitions and sources."""

WORDS = (
    ("Latency", "From the moment the writer begins to serialise a message to the moment the reader holds it "
                "deserialised (Martin et al. 2018)."),
    ("Half round trip", "For echo: half of the time there and back. Never shown beside one-way latency, since the "
                        "two ways may differ."),
    ("p50, p99, p99.9", "The time within which 50 %, 99 %, 99.9 % of all messages sent arrived; “lost” where so many "
                        "are missing that it never "
     "comes; – where there are too few messages to tell."),
    ("Lost", "Not arrived by the end of the stated drain time. Duplicates, reordered and late messages are counted "
             "apart."),
    ("Ratio [low, high]", "This case's median latency over its baseline's, from pairs of trials run right after each "
                          "other, with a 95 % interval: "
     "if the experiment were repeated many times, 95 of 100 such intervals would hold the true ratio."),
    ("≈ equivalent", "The whole interval lies within the tolerance: shown to make no difference that matters."),
    ("▲ slower, ▼ faster", "The whole interval lies above or below 1, and reaches past the tolerance."),
    ("? not resolved", "The data neither show nor rule out a difference. This is not “no difference”."),
    ("✕ lost", "In too many pairs one arm lost more than half of its messages: there is no median to compare."),
    ("CPU", "User and system time of all processes while messages flowed, as share of one core; 100 % is one core "
            "busy. The laboratory's own "
     "switch stands in the chart and is left out of the sums."),
    ("On the wire", "Bytes of all frames on the link, both directions, over the messages sent: headers, heartbeats "
                    "and protection included."),
    ("Handshake", "From the last node's start to all ends matched: discovery, authentication and key exchange. Not "
                  "part of latency."),
    ("Bare cipher", "What the cipher alone takes at this message size on this machine, measured in the same run: a "
                    "floor for any protection."),
    ("Invalid trial", "The laboratory failed (a late switch, a starved node, a wire that contradicts the "
                      "protection). Repeated, reported, never "
     "averaged in."),
    ("10 Hz, 33 Hz", "One period of a sensor of that rate: a message older than it is overtaken by the next one."),
)  # fmt: skip

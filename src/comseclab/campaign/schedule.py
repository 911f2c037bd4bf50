"""In which order trials run: compared cases side by side in pairs, everything else shuffled, all from one seed.

The order depends on the seed and on which cases still need pairs, never on time: a resumed one goes on as it began.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass
class Group:
    """A baseline and the cases compared with it; a case without a baseline is a group of its own."""

    baseline: str
    variants: list[str]
    finished: set[str] = field(default_factory=set)
    """Variants that need no further pairs; a lone case stands here for itself."""

    @property
    def done(self) -> bool:
        return self.finished >= set(self.variants or [self.baseline])

    def block(self) -> list[str]:
        """The cases of the group's next pair."""
        return [self.baseline, *(case for case in self.variants if case not in self.finished)]


def make_groups(baselines: Mapping[str, str | None]) -> list[Group]:
    """Group cases (id -> id of the baseline, None for a baseline or a case without one), in their order."""
    groups = {case: Group(case, []) for case, baseline in baselines.items() if baseline is None}
    for case, baseline in baselines.items():
        if baseline is not None:
            groups[baseline].variants.append(case)
    return list(groups.values())


def blocks(groups: Sequence[Group], seed: int, max_pairs: int) -> Iterator[tuple[int, Group, list[str]]]:
    """Yield (pair, group, cases in the order to run) until every group is done or has all its pairs.

    The caller marks what is finished while iterating.
    """
    for pair in range(max_pairs):
        order = list(enumerate(groups))
        random.Random(f"{seed} order of groups in pair {pair}").shuffle(order)
        for place, group in order:
            if group.done:
                continue
            cases = group.block()
            random.Random(f"{seed} order within pair {pair} of group {place}").shuffle(cases)
            yield pair, group, cases

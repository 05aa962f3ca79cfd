"""Services that together cover every pair of values of every two open points and quirks.

A client that works with all of them works where the real service differs from our
defaults in any one way, and in any two ways at once.
"""

import itertools
import random
from typing import Any, NamedTuple, Self, get_args, get_origin

from chatkit import Sandbox, ServiceProfile
from chatkit.sandbox.interface import QUIRKS

#: Values to try for the points whose type does not list them.
VALUES: dict[str, tuple[Any, ...]] = {
    "max_page_size": (100, 7),
    "search_param": ("search", "q", None),
    "status_param": ("status", "wa_status", None),
    "content_requires": (("lang_code", "text"), ("lang_code", "text", "is_draft")),
    "event_kind_field": ("event", "type"),
    "event_data_field": ("data", "payload"),
    "event_kind_inbound": ("chat.message.inbound",),
    "event_kind_outbound": ("chat.message.outbound",),
    "event_kind_reaction": ("chat.message.reaction",),
    "event_kind_media": ("chat.message.media",),
    "event_kind_template": ("chat.template",),
    "event_kind_raw": ("chat.raw",),
    "rate_limit": (None, 400),
}


#: A flow document is shown in one way.
FORMS = ("text_flow_json", "raw_flow_json")


class Service(NamedTuple):
    """A service: a profile, known to the client, and quirks, which are not."""

    profile: ServiceProfile
    quirks: frozenset[str]

    @classmethod
    def of(cls, **points: Any) -> Self:
        """A service that differs from the default in points of the profile and in quirks."""
        form = {points.pop("flow_json_form", None)} - {None}
        quirks = {name for name in QUIRKS & points.keys() if points[name]}
        profile = {name: value for name, value in points.items() if name not in QUIRKS}
        return cls(ServiceProfile(**profile), frozenset(quirks | form))

    def sandbox(self, seed: Any = "empty") -> Sandbox:
        return Sandbox(seed=seed, profile=self.profile, quirks=self.quirks)


def axes() -> dict[str, tuple[Any, ...]]:
    """Every open point and quirk with the values it may take."""
    result: dict[str, tuple[Any, ...]] = dict.fromkeys(sorted(QUIRKS - {*FORMS}), (False, True))
    result["flow_json_form"] = (None, *FORMS)
    for name, field in ServiceProfile.model_fields.items():
        if name in VALUES:
            result[name] = VALUES[name]
        elif field.annotation is bool:
            result[name] = (True, False)
        else:
            assert get_origin(field.annotation) is not None, f"say the values of {name}"
            result[name] = get_args(field.annotation)
    return result


def covering(seed: int = 0) -> list[Service]:
    """Few services in which each pair of values of each two points occurs at least once.

    A value of a point is a bit; `uncovered` holds, for each, the values it has not met yet.
    """
    numbers = itertools.count()
    points = {name: [(next(numbers), value) for value in values] for name, values in axes().items()}
    masks = {name: sum(1 << bit for bit, _ in values) for name, values in points.items()}
    every = sum(masks.values())
    uncovered = {bit: every & ~masks[name] for name, values in points.items() for bit, _ in values}
    chance = random.Random(seed)
    services = []
    while any(uncovered.values()):
        tries = [_greedy(points, uncovered, chance) for _ in range(12)]
        best = max(tries, key=lambda chosen: _covered(_mask(chosen), uncovered))
        for bit, _ in best.values():
            uncovered[bit] &= ~_mask(best)
        services.append(Service.of(**{name: value for name, (_, value) in best.items()}))
    return services


def _greedy(
    points: dict[str, list[tuple[int, Any]]], uncovered: dict[int, int], chance: random.Random
) -> dict[str, tuple[int, Any]]:
    """One value for each point: a value with something uncovered first, then what covers most."""
    first = chance.choice([bit for bit, left in uncovered.items() if left])
    chosen = {
        name: choice for name, values in points.items() for choice in values if choice[0] == first
    }
    for name in chance.sample(list(points), len(points)):
        if name not in chosen:
            met = _mask(chosen)
            chosen[name] = max(
                chance.sample(points[name], len(points[name])),
                key=lambda choice, met=met: (uncovered[choice[0]] & met).bit_count(),
            )
    return chosen


def _mask(chosen: dict[str, tuple[int, Any]]) -> int:
    return sum(1 << bit for bit, _ in chosen.values())


def _covered(mask: int, uncovered: dict[int, int]) -> int:
    return sum((left & mask).bit_count() for bit, left in uncovered.items() if mask >> bit & 1)


def anything(count: int, seed: int = 1) -> list[Service]:
    """Services made by chance: three and more unusual points at once."""
    rng = random.Random(seed)
    return [
        Service.of(**{name: rng.choice(values) for name, values in axes().items()})
        for _ in range(count)
    ]


SERVICES = [Service.of(), *covering(), *anything(16)]

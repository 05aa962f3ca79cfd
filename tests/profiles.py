"""Service profiles that together cover every pair of values of every two open points.

A client that works under all of them works where the real service differs from our
defaults in any one way, and in any two ways at once.
"""

import random
from itertools import combinations, product
from typing import Any, get_args, get_origin

from chatkit import ServiceProfile

#: Values to try for the points whose type does not list them.
VALUES: dict[str, tuple[Any, ...]] = {
    "default_page_size": (10, 3),
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
    "delivery_timeout": (10.0,),
    "delivery_retries": ((5.0, 300.0), (0.01,)),
    "rate_limit": (None, 400),
    "max_body": (11 * 1024 * 1024,),
}


def axes() -> dict[str, tuple[Any, ...]]:
    """Every open point with the values it may take."""
    found: dict[str, tuple[Any, ...]] = {}
    for name, field in ServiceProfile.model_fields.items():
        if name in VALUES:
            found[name] = VALUES[name]
        elif field.annotation is bool:
            found[name] = (True, False)
        else:
            assert get_origin(field.annotation) is not None, f"say the values of {name}"
            found[name] = get_args(field.annotation)
    return found


def covering(seed: int = 0) -> list[ServiceProfile]:
    """Few profiles in which each pair of values of each two points occurs at least once."""
    points = axes()
    names = list(points)
    open_pairs = {
        (a, x, b, y) for a, b in combinations(names, 2) for x, y in product(points[a], points[b])
    }
    rng = random.Random(seed)
    profiles = []
    while open_pairs:
        best: dict[str, Any] = {}
        best_covers: set[tuple[str, Any, str, Any]] = set()
        for _ in range(12):
            start = rng.choice(sorted(open_pairs, key=repr))
            chosen = {start[0]: start[1], start[2]: start[3]}
            for name in rng.sample(names, len(names)):
                if name not in chosen:
                    chosen[name] = max(
                        rng.sample(points[name], len(points[name])),
                        key=lambda value, name=name: len(
                            _pairs(chosen, name, value, names) & open_pairs
                        ),
                    )
            covers = _all_pairs(chosen, names) & open_pairs
            if len(covers) > len(best_covers):
                best, best_covers = chosen, covers
        open_pairs -= best_covers
        profiles.append(ServiceProfile(**best))
    return profiles


def _pairs(
    chosen: dict[str, Any], name: str, value: Any, names: list[str]
) -> set[tuple[str, Any, str, Any]]:
    place = names.index
    return {
        (name, value, other, x) if place(name) < place(other) else (other, x, name, value)
        for other, x in chosen.items()
    }


def _all_pairs(chosen: dict[str, Any], names: list[str]) -> set[tuple[str, Any, str, Any]]:
    return {(a, chosen[a], b, chosen[b]) for a, b in combinations(names, 2)}


def anything(count: int, seed: int = 1) -> list[ServiceProfile]:
    """Profiles made by chance: three and more unusual points at once."""
    rng = random.Random(seed)
    return [
        ServiceProfile(**{name: rng.choice(values) for name, values in axes().items()})
        for _ in range(count)
    ]


PROFILES = [ServiceProfile(), *covering(), *anything(16)]

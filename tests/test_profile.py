"""Every open point is documented, and every pair of them is tried by the tests of resources."""

from itertools import combinations, product
from pathlib import Path

import pytest
from profiles import FORMS, SERVICES, axes

import chatkit
from chatkit import ServiceProfile
from chatkit.errors import InputError
from chatkit.sandbox.events import FamilyKinds
from chatkit.sandbox.interface import QUIRKS


def test_every_point_says_why():
    for name, field in ServiceProfile.model_fields.items():
        assert field.description and len(field.description) > 15, name


def values(service):
    form = next((name for name in FORMS if name in service.quirks), None)
    return {**{name: name in service.quirks for name in QUIRKS}, **dict(service.profile),
            "flow_json_form": form}  # fmt: skip


def test_the_services_cover_every_pair_of_open_points():
    seen = {
        (a, repr(x), b, repr(y))
        for service in SERVICES
        for (a, x), (b, y) in combinations(values(service).items(), 2)
    }
    points = axes()
    for a, b in combinations(points, 2):
        for x, y in product(points[a], points[b]):
            assert {(a, repr(x), b, repr(y)), (b, repr(y), a, repr(x))} & seen


def test_a_misspelt_point_or_value_is_refused_and_what_is_not_the_default_is_told():
    for points in ({"serch_param": "q"}, {"put": "sometimes"}):
        with pytest.raises(InputError):
            ServiceProfile(**points)
    assert ServiceProfile(put="replace", page_base=1).changed() == {"put": "replace"}


def test_a_kind_of_events_is_named_here_and_made_in_the_sandbox_and_nowhere_else() -> None:
    """A new kind is a change of two places: the client reads the kinds from the profile."""
    package = Path(chatkit.__file__).parent
    names = [name for name in ServiceProfile.model_fields if name.startswith("event_kind_")]
    families = {name.removeprefix("event_kind_") for name in names} - {"field"}
    assert families == {*FamilyKinds._fields} - {"status"}
    assert len(ServiceProfile().event_kinds()) == len(families)
    report = {
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        if any(f"event_kind_{family}" in file.read_text() for family in families)
    }
    assert report == {"profile.py"}

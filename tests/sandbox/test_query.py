"""Pages: how they are asked for, and what odd askers get."""

import pytest
from caller import Caller

from chatkit import ServiceProfile
from chatkit.sandbox import Sandbox
from chatkit.sandbox.interface import RefusedRequest, parse_page, parse_query

UNUSUAL = [
    "",
    "0",
    "-1",
    "+1",
    "1.5",
    "1e2",
    "x",
    "%31x",
    "NaN",
    "%20",
    "%00",
    "%D9%A1",
    "-0",
    "0x1",
]


@pytest.mark.parametrize("unusual", UNUSUAL)
@pytest.mark.parametrize("name", ["page", "pageSize"])
def test_an_odd_page_is_refused(unusual, name):
    values = parse_query(f"{name}={unusual}")
    with pytest.raises(RefusedRequest, match=name):
        parse_page(values, ServiceProfile())


def test_a_huge_page_is_after_the_end():
    with Sandbox(seed="empty") as sandbox:
        call = Caller(sandbox)
        call.contact()
        for digits in (2, 18, 19, 400, 100_000):
            reply = call("GET", f"/contacts?page={'9' * digits}")
            assert (reply.status, reply.data, reply.total) == (200, [], 1)
        assert call("GET", f"/contacts?pageSize={'9' * 400}").json["pagination"]["pageSize"] == 100


@pytest.mark.parametrize("query", ["page=%", "page=%ff", "search=%E0%80", "sea%rch=x", "search=é"])
def test_a_query_that_is_no_text_cannot_be_read(query):
    with Sandbox() as sandbox:
        assert Caller(sandbox)("GET", f"/contacts?{query}").status == 400


def test_a_parameter_given_twice_is_refused():
    with Sandbox() as sandbox:
        assert Caller(sandbox)("GET", "/contacts?page=1&page=2").status == 422


def test_other_parameters_do_not_matter():
    with Sandbox() as sandbox:
        assert Caller(sandbox)("GET", "/contacts?&x=1&y&=z&page=1").status == 200


def test_plus_is_a_space_and_escapes_are_undone():
    assert parse_query("a+b=c%2Bd&e=%26%3D") == {"a b": "c+d", "e": "&="}


@pytest.mark.parametrize("base", [1, 0])
def test_pages_cover_the_list_without_gap_or_repetition(base):
    profile = ServiceProfile(page_base=base, max_page_size=4)
    with Sandbox(profile=profile) as sandbox:
        call = Caller(sandbox)
        ids = [call.contact(f"20255501{n:02}") for n in range(11)]
        for size, query in ((4, ""), (4, "&pageSize=4"), (4, "&pageSize=5"), (3, "&pageSize=3")):
            seen = []
            pages = -(-11 // size)
            for number in range(base, base + pages):
                reply = call("GET", f"/contacts?page={number}{query}")
                assert reply.json["pagination"] == {
                    "page": number, "pageSize": size, "totalCount": 11, "totalPages": pages,
                }  # fmt: skip
                seen += [contact["id"] for contact in reply.data]
            assert seen == ids


def test_a_page_after_the_last_is_refused_if_the_profile_says_so():
    with Sandbox(profile=ServiceProfile(page_past_end="refuse")) as sandbox:
        call = Caller(sandbox)
        assert call("GET", "/contacts?page=1").status == 200
        assert call("GET", "/contacts?page=2").status == 422
        call.contact()
        assert call("GET", "/contacts?page=1").status == 200
        assert call("GET", "/contacts?page=2").status == 422

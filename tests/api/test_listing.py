"""Listing: every page once and in order, an end whatever the service says, and a word about it."""

import json
import random
import re
from collections.abc import Callable, Generator, Iterable
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from faultserver import FaultServer, http
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

import chatkit
from chatkit.api import listing as listings
from chatkit.api.answer import Envelope, Pagination
from chatkit.api.call import Call
from chatkit.api.listing import ListReader
from chatkit.client import Client
from chatkit.contacts import Contact
from chatkit.errors import CallError, Fault, ListMoved, NotFound, NotPermitted, Refused

SIZE = 10
EMPTY_AT_END = listings._EMPTY_PAGES_AT_END
FLYING = 8  # calls under way at a time
AHEAD = 100  # so many pages may have overtaken the one that shows the end

#: What a service has on a page: ids, its total and its number of pages; or how it refuses.
Page = tuple[list[int], int, int] | type[CallError]


class Service:
    """A list, page by page, behind the face of a transport. Answers overtake each other."""

    def __init__(
        self, page: Callable[[int], Page], *, size: int = SIZE, paged: bool = True, seed: int = 0
    ) -> None:
        self.page, self.size, self.paged = page, size, paged
        self.asked: list[int] = []
        self.largest_total = 0
        self._chance = random.Random(seed)

    def send(self, call: Call) -> Envelope:
        answer = self._answer(call)
        if isinstance(answer, CallError):
            raise answer
        return answer

    def send_all(
        self, calls: Iterable[Call]
    ) -> Generator[tuple[Call, Envelope] | Fault, None, None]:
        source, flying = iter(calls), []
        while True:
            while len(flying) < FLYING and (call := next(source, None)):
                flying.append((call, self._answer(call)))
            if not flying:
                return
            call, answer = flying.pop(self._chance.randrange(len(flying)))
            yield Fault(call, answer) if isinstance(answer, CallError) else (call, answer)

    def _answer(self, call: Call) -> Envelope | CallError:
        number = int(call.query["page"])
        self.asked.append(number)
        page = self.page(number)
        if isinstance(page, type):
            return page(call, "404 no such page", status=404)
        ids, total, pages = page
        self.largest_total = max(self.largest_total, total if self.paged else 10**12)
        return Envelope(
            success=True,
            data=Raw(json.dumps(ids).encode()),
            pagination=Pagination(number, self.size, total, pages) if self.paged else None,
        )


def test_a_page_past_the_end_that_fails_does_not_break_the_list() -> None:
    """Pages of a list that ends before its own figures are asked for ahead: nobody needs them."""

    class Failing(Service):
        def send_all(
            self, calls: Iterable[Call]
        ) -> Generator[tuple[Call, Envelope] | Fault, None, None]:
            for call in list(calls):  # all under way at once
                if int(call.query["page"]) > 1 + EMPTY_AT_END:
                    yield Fault(call, NotPermitted(call, "403", status=403))
                else:
                    yield call, self.send(call)

    full = list(range(SIZE))
    _, ids = read(Failing(lambda number: (full if number == 1 else [], 40 * SIZE, 40)))
    assert ids == full


def read(
    service: Service, first: int = 1, *, refuses: bool = False
) -> tuple[ListReader, list[int]]:
    """Read the whole list; the ids that it gave."""
    ids: list[int] = []

    def add(data: Raw) -> int:
        new = json.loads(bytes(data))
        ids.extend(new)
        return len(new)

    def call(page: int) -> Call:
        return Call("GET", ("contacts",), {"page": page, "pageSize": SIZE})

    listing = ListReader(service, call, add, first=first, refuses=refuses)  # type: ignore[arg-type]
    assert sum(listing.read()) == listing.rows == len(ids)
    twice = len(service.asked) - len(set(service.asked))
    if service.largest_total >= listing.rows:  # else pages that were skipped are read after all
        assert not twice, "a page was asked for twice"
    assert twice <= FLYING + AHEAD
    return listing, ids


def cut(count: int, number: int, first: int = 1) -> list[int]:
    """The ids that belong on a page of a list with `count` rows."""
    return list(range(count))[(number - first) * SIZE : (number - first + 1) * SIZE]


def honest(count: int, *, pages: int | None = None, total: int | None = None, **kwargs: Any) -> Any:
    """A service that has `count` rows, and correct figures unless others are passed."""
    pages = -(-count // SIZE) if pages is None else pages
    total = count if total is None else total
    return Service(lambda number: (cut(count, number), total, pages), **kwargs)


# --- quiet lists ----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, SIZE - 1, SIZE, SIZE + 1, 2 * SIZE, 25 * SIZE, 995])
@pytest.mark.parametrize("first", [1, 0])
@pytest.mark.parametrize("least", [0, 1])
def test_a_quiet_list_is_read_once_and_nothing_is_odd(count, first, least):
    pages = max(least, -(-count // SIZE))
    service = Service(lambda number: (cut(count, number, first), count, pages), seed=count)
    listing, ids = read(service, first)
    assert ids == list(range(count))
    assert listing.moved == []
    assert (listing.total, listing.calls) == (count, (max(1, pages), 0))
    assert sorted(service.asked) == list(range(first, first + max(1, pages)))


# --- lists without pagination ---------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, SIZE - 1, SIZE, SIZE + 1, 2 * SIZE, 250, 995])
@pytest.mark.parametrize("first", [1, 0])
def test_a_list_without_pagination_is_read_to_its_end(count, first):
    service = Service(lambda number: (cut(count, number, first), 0, 0), paged=False)
    listing, ids = read(service, first)
    assert ids == list(range(count))
    assert (listing.moved, listing.total) == ([], None)
    assert len(service.asked) <= 2 * (count // SIZE) + 1 + FLYING
    if 0 < count < SIZE:
        assert service.asked == [first, first + 1], "a short list is two calls"


def until(last: int, count: int, end: type[CallError] = Refused) -> Callable[[int], Page]:
    """The pages of a list with so many rows, up to the last one; the next ones are refused."""
    return lambda number: (cut(count, number), 0, 0) if number <= last else end


REFUSED_AFTER = r"after {} rows .* page_past_end='refuse'"
UNPAGED: dict[str, tuple[Callable[[int], Page], int | str]] = {
    "a full page that comes again for ever": (
        lambda number: (list(range(SIZE)), 0, 0),
        "second page of 10 rows is the first one again",
    ),
    **{
        f"the last of {full} pages comes again": (
            lambda number, full=full: (cut(full * SIZE, min(number, full)), 0, 0),
            full * SIZE,
        )
        for full in (2, 3, 9)
    },
    "new rows for ever": (lambda number: ([number], 0, 0), "had not ended after 200 pages"),
    "not found after full pages": (until(4, 40, NotFound), 40),
    "a refusal in the middle of full pages": (until(4, 1000), REFUSED_AFTER.format(40)),
    **{f"a refusal after {n} full pages and a part": (until(n + 1, 10 * n + 4), 10 * n + 4)
       for n in (0, 1, 2)},
    # A service may leave rows out of its pages, those that are inactive: none of them is full.
    "a refusal after less than the largest page": (
        lambda number: ([*[range(3), range(3, 9), range(9, 13)][number - 1]], 0, 0)
        if number < 4 else Refused, 13,
    ),
    # A service may know no second page at all: its first one is not the whole list.
    "a refusal after a full first page": (until(1, 250), REFUSED_AFTER.format(10)),
    # A service that cuts pages smaller than asked for, down to one row, has no part of a page.
    "a refusal after pages of one row": (
        lambda number: ([number], 0, 0) if number < 4 else Refused, REFUSED_AFTER.format(3),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("page", "result"), UNPAGED.values(), ids=UNPAGED)
def test_a_list_without_pagination_is_whole_or_an_error(page, result, monkeypatch):
    monkeypatch.setattr(listings, "_MOST_PAGES", 200)
    service = Service(page, paged=False)
    if isinstance(result, int):
        assert read(service)[1] == list(range(result))
        return
    with pytest.raises(chatkit.errors.BadAnswer, match=result):
        read(service)
    assert len(service.asked) < 200 + AHEAD
    if "refuse'" in result:
        service.asked.clear()
        assert len(read(service, refuses=True)[1]) == int(result.split()[1])


def test_a_list_as_long_as_the_longest_is_read_whole_without_pagination(monkeypatch):
    monkeypatch.setattr(listings, "_MOST_PAGES", 2)
    assert read(Service(lambda number: (cut(20, number), 0, 0), paged=False))[1] == [*range(20)]


def test_a_list_that_has_no_pages_is_one_answer_and_never_a_part_of_it():
    def whole(total):
        pagination = Pagination(1, SIZE, total, 3) if total else None
        rows = Raw(json.dumps(list(range(SIZE))).encode())
        sender = SimpleNamespace(send=lambda call: Envelope(True, data=rows, pagination=pagination))
        listing = ListReader(sender, lambda page: Call("GET", ("webhooks",)), added, first=1)
        return list(listing.read())

    def added(data):
        return len(json.loads(bytes(data)))

    assert whole(None) == whole(SIZE) == [SIZE]
    with pytest.raises(chatkit.errors.BadAnswer, match="only 10 of 25 rows came"):
        whole(25)


@given(
    count=st.integers(0, 130),
    cap=st.integers(1, SIZE),
    figures=st.sampled_from(["right", "absent", "pages wrong", "total wrong", "less than came"]),
    wrong=st.integers(-3, 40) | st.just(10**12),
    size=st.integers(-1, 100),
    end=st.sampled_from(["empty", "refused", "not found", "last again"]),
    first=st.sampled_from([0, 1]),
    refuses=st.booleans(),
)
def test_every_row_of_a_list_is_read_or_it_is_an_error(
    count, cap, figures, wrong, size, end, first, refuses
):
    """However long the list, whatever the service makes of the size asked for and tells of it."""
    pages = -(-count // cap)

    def page(number):
        at = number - first
        if at >= max(1, pages):
            if end in ("refused", "not found"):
                return Refused if end == "refused" else NotFound
            at = at if end == "empty" else max(0, pages - 1)
        rows = list(range(count))[at * cap : (at + 1) * cap]
        output = {
            "pages wrong": (count, wrong),
            "total wrong": (wrong, pages),
            "less than came": (len(rows) - 1, min(wrong, 1)),
        }
        return rows, *output.get(figures, (count, pages))

    service = Service(page, size=size, paged=figures != "absent", seed=count)
    try:
        _, ids = read(service, first, refuses=refuses)
    except chatkit.errors.BadAnswer:
        assert count % cap == 0
        if end == "last again":
            assert figures in ("absent", "less than came")
            assert count == cap == SIZE
        else:
            assert (figures, end, refuses) == ("absent", "refused", False)
            assert pages > 1 or count == SIZE
    else:
        assert ids == list(range(count))
        assert len(service.asked) <= 2 * (pages + SIZE) + AHEAD


# --- wrong figures, and lists that move -----------------------------------------------------


@pytest.mark.parametrize(
    ("count", "figures", "moved"),
    [
        *((250, {"pages": pages}, []) for pages in (1, 0, -7, 24)),  # the total says more
        *((count, {"pages": count // SIZE}, []) for count in (251, 255, 259)),
        *((250, {"pages": 3, "size": size}, []) for size in (100, 1, 0, -5)),  # what comes counts
        *((250, {"total": total}, []) for total in (0, -1, 7)),  # the pages say more
        (250, {"total": 10**12}, []),  # the missing rows are reported as such
        (250, {"pages": 26}, ["a page that it announced was empty"]),
        (250, {"pages": 30}, ["a page that it announced was empty (5 times)"]),
        (250, {"pages": 10**12}, ["a page that it announced was empty (8 times)"]),
    ],
)
def test_wrong_figures_hide_no_row_and_reading_ends_soon(count, figures, moved):
    service = honest(count, **figures)
    listing, ids = read(service)
    assert ids == list(range(count))
    assert (listing.moved, listing.total) == (moved, figures.get("total", count))
    assert len(service.asked) <= min(max(26, figures.get("pages", 10**12)), 25 + 8 + AHEAD)


REFUSED = "a page that it announced was refused (404 no such page)"
EMPTY = "a page that it announced was empty"
GREW = "it grew faster than it could be read"
TOTALS = [100, 101, 99, 100, 103, 100, 100, 98, 100, 100]


def grown(number: int, pages: int) -> Page:
    """A page of a list that has 10 pages at first."""
    pages = 10 if number < 5 else pages
    return cut(pages * SIZE, number), pages * SIZE, pages


#: Twice as far as it was at first, and a few pages, may a list grow while it is read.
FARTHEST = 10 + 9 + EMPTY_AT_END
#: How a list moves: its pages, the ids that are read of it, and what is reported.
MOVING: dict[str, tuple[Callable[[int], Page], Iterable[int], list[str]]] = {
    "its total changes": (
        lambda number: (cut(100, number), TOTALS[min(number, 10) - 1], 10),
        range(100), ["its total was between 98 and 103"],
    ),
    **{
        f"pages promise less than {pages}": (
            lambda number, pages=pages: (
                cut(200, number), *((0, 0) if number in (3, 4) else (200, pages))
            ),
            range(200), ["its total was between 0 and 200"],
        )
        for pages in (20, 1)
    },
    "it grows": (
        lambda number: (cut(120, number), *((100, 10) if number < 5 else (120, 12))),
        range(120), ["its total was between 100 and 120"],
    ),
    "it grows as far as it may": (
        lambda number: grown(number, FARTHEST),
        range(FARTHEST * SIZE), [f"its total was between 100 and {FARTHEST * SIZE}"],
    ),
    "it grows farther": (
        lambda number: grown(number, FARTHEST + 1),
        range(FARTHEST * SIZE), [GREW, f"its total was between 100 and {FARTHEST * SIZE + SIZE}"],
    ),
    "its last page is empty": (
        lambda number: (cut(90, number), *((95, 10) if number < 10 else (90, 9))),
        range(90), [EMPTY, "its total was between 90 and 95"],
    ),
    "its last page is refused": (
        lambda number: (cut(90, number), 95, 10) if number < 10 else Refused, range(90), [REFUSED],
    ),
    "its last page is not found": (
        lambda number: (cut(90, number), 95, 10) if number < 10 else NotFound, range(90), [REFUSED],
    ),
    "pages in the middle are empty or refused": (
        lambda number: Refused if number in (9, 10)
        else (cut(200, number) if number not in (4, 5, 6) else [], 200, 20),
        [*range(30), *range(60, 80), *range(100, 200)],
        [f"{EMPTY} (3 times)", f"{REFUSED} (2 times)"],
    ),
    **{
        f"each of {pages} pages is the same": (
            lambda number, pages=pages: (list(range(SIZE)), pages * SIZE, pages),
            range(SIZE), ["a page came twice (8 times)"],
        )
        for pages in (100, 10**12)
    },
}  # fmt: skip


@pytest.mark.parametrize(("page", "expected", "moved"), MOVING.values(), ids=MOVING)
def test_a_list_that_moves_is_read_to_its_end_and_what_moved_is_reported(page, expected, moved):
    service = Service(page)
    listing, ids = read(service)
    assert ids == list(expected)
    assert listing.moved == moved
    assert len(service.asked) <= len(ids) // SIZE + 8 + AHEAD


def test_new_rows_for_ever_end_at_what_the_first_page_announced():
    service = Service(lambda number: ([number], 50, 5))
    assert read(service)[0].rows < 60
    assert len(service.asked) < 60
    service = Service(lambda number: ([number] * SIZE, 50 + number * 100, 5 + number * 10))
    assert GREW in read(service)[0].moved
    assert len(service.asked) < 100


def test_a_later_page_needs_no_pagination():
    def page(number):
        service.paged = number == 1
        return cut(35, number), 35, 4

    service = Service(page)
    assert read(service)[1] == list(range(35))


def test_rows_come_in_the_order_of_the_pages_while_one_is_slow(monkeypatch):
    monkeypatch.setattr(listings, "_READ_AHEAD", 20)
    service = honest(1000)
    ahead = []

    def send_all(calls: Iterable[Call]) -> Generator[Any, None, None]:
        """Keep the first page back until nothing else can be asked for."""
        first, *others = calls
        ahead.append(len(others) + 1)
        for call in [*others, first]:
            yield call, service.send(call)

    service.send_all = send_all
    assert read(service)[1] == list(range(1000))
    assert max(ahead) == 20


def test_any_other_failure_and_a_first_page_that_is_refused_are_errors():
    with pytest.raises(NotPermitted):
        read(Service(lambda number: (cut(100, number), 100, 10) if number < 3 else NotPermitted))
    with pytest.raises(NotFound):
        read(Service(lambda number: NotFound))


PAGES = st.tuples(st.integers(0, SIZE), st.integers(-3, 40) | st.just(10**12), st.integers(-3, 40))


@given(
    begin=PAGES,
    pages=st.lists(PAGES | st.just(Refused), max_size=30),
    after=st.sampled_from(["empty", "refused", "last again"]),
    first=st.sampled_from([0, 1]),
    seed=st.integers(0, 9),
)
def test_whatever_a_service_says_reading_ends_and_skips_nothing(begin, pages, after, first, seed):
    """Rows are numbered through, so what was read must be 0, 1, 2 … without a gap."""
    answers: list[Page] = []
    count = 0
    for output in [begin, *pages]:
        if output is Refused:
            answers.append(Refused)
        else:
            rows, total, last = output
            answers.append((list(range(count, count + rows)), total, last))
            count += rows

    def page(number):
        if number - first < len(answers):
            return answers[number - first]
        return {"empty": ([], 10**12, 10**12), "refused": Refused, "last again": answers[-1]}[after]

    service = Service(page, seed=seed)
    _, ids = read(service, first)
    assert ids == list(range(len(ids)))
    rows, total, last = begin
    promised = max(1, last, 1 + -(-(total - rows) // max(1, rows)))
    largest = max([output[1] for output in [begin, *pages] if output is not Refused])
    most = len(answers) + 8 + AHEAD
    bound = 2 * most if len(ids) > largest else min(2 * promised + 8, most)
    assert len(service.asked) <= bound


# --- over HTTP, as a person meets it --------------------------------------------------------


def contact(number: int) -> dict[str, Any]:
    return dict.fromkeys(Contact.listed) | {"id": number, "tags": []}


def served(page: Callable[[int, int], tuple[int, Any]]) -> FaultServer:
    """A real server of contacts; each answer takes another time, so that they overtake."""
    chance = random.Random(1)

    def script(line, asked):
        query = parse_qs(urlsplit(asked.target).query)
        line.wait(chance.random() / 200)
        status, body = page(int(query["page"][0]), int(query["pageSize"][0]))
        line.send(http(status, json.dumps(body).encode()))

    return FaultServer(script)


def frame_of(server: FaultServer) -> Any:
    with server, Client(server.base_url, "1001", "token") as client:
        return client.contacts.frame()


def slice_of(rows: list[int], page: int, size: int) -> Any:
    view = [contact(n) for n in rows[(page - 1) * size : page * size]]
    output = {"page": page, "pageSize": size, "totalCount": len(rows)}
    return {
        "success": True,
        "data": view,
        "pagination": output | {"totalPages": -(-len(rows) // size)},
    }


def test_a_quiet_list_becomes_a_frame_without_a_word():
    rows = list(range(5000, 1050, -1))
    frame = frame_of(served(lambda page, size: (200, slice_of(rows, page, size))))
    assert list(frame.index) == rows


def test_rows_that_move_to_the_next_page_are_kept_once_and_told():
    """Each page is read after another contact was put in front: its first row was there before."""
    rows = list(range(2000))

    def page(number, size):
        return 200, slice_of(list(range(-number, 0)) + rows, number, size)

    with pytest.warns(ListMoved) as caught:
        frame = frame_of(served(page))
    assert frame.index.is_unique
    assert set(rows) <= set(frame.index)
    [warning] = caught
    assert warning.filename == __file__
    text = str(warning.message)
    assert re.search(r"its total was between 2001 and 20\d\d; \d\d rows came twice", text)
    count = re.search(r"; (\d+) different rows came of", text)
    assert count and int(count[1]) == len(frame)
    assert text.startswith("The list of contacts changed while it was read: ")


def test_a_list_that_shrinks_until_its_last_page_is_refused():
    def page(number, size):
        if number == 20:
            return 422, {"success": False, "message": "no such page"}
        return 200, slice_of(list(range(1950)), number, size)

    with pytest.warns(ListMoved, match=r"refused \(422 .*no such page.*1900 different rows"):
        assert len(frame_of(served(page))) == 1900


def test_a_page_that_is_no_list_is_an_error_that_names_the_row():
    def page(number, size):
        body = slice_of(list(range(500)), number, size)
        if number == 4:
            body["data"][7]["number"] = 2025550143
        return 200, body

    reason = r"row 307, field number: expected text, got 2025550143 \(id 307\)"
    with pytest.raises(chatkit.errors.BadAnswer, match=reason):
        frame_of(served(page))

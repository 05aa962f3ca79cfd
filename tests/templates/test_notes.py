"""Tests of the findings of contents that are about to be sent."""

import pytest
from localization.contents import GOOD, content, frame

import chatkit
from chatkit.bulk.changes import Change
from chatkit.report import select_errors, select_errors_and_warnings
from chatkit.resource import get_endpoints
from chatkit.templates.contents import ContentEndpoints

LABEL = [{"type": "custom", "label": "A label that is far too long now"}]
OTHER_LABEL = [{"type": "custom", "label": "Another one that is too long"}]
BROKEN = "Hello {{name}}, it is there for you today."
NOTHING = frame(content()).iloc[:0]
LENGTH = [("length", "/buttons/0/label")]
NAME = [("placeholder name", "/text")]


@pytest.fixture(scope="module")
def client():
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        yield client


@pytest.fixture
def endpoints(client):
    known = get_endpoints(client.templates("order_ready"))
    return ContentEndpoints(known.transport, "order_ready", known.checks)


def change(kind="update", lang="en", code="order_ready", **after):
    return Change(
        row=lang, kind=kind, key=lang, label=f"{code}/{lang}", before={}, after=after, code=code
    )


def check(endpoints, changes, base):
    """Return the findings of a plan with these changes, by the position of the change."""
    return endpoints.check_changes(changes, base, lambda keys: pytest.fail("nothing is read"))


def places(findings):
    return [(each.code, each.pointer) for each in findings]


DRAFT, LIVE, BYE = {"is_draft": True}, {"is_draft": False}, {"footer": "Bye"}
VALIDITY = LIVE | {"validity_period_seconds": 5, "is_custom_validity_period": False}
COUNTS = {"is_custom_validity_period": True}
LONG, OTHER_LONG = {"buttons": LABEL}, {"buttons": OTHER_LABEL}
WRONG, OTHER_WRONG = {"text": BROKEN}, {"text": BROKEN.replace("there", "here")}


@pytest.mark.parametrize(
    ("live", "fields", "stopped"),
    [
        # the platform refuses it: it does not get live
        (DRAFT | LONG, LIVE, LENGTH),
        (DRAFT | LONG, DRAFT | BYE, []),
        (DRAFT | LONG, BYE, []),
        (DRAFT, LONG, []),
        (LIVE, LONG, LENGTH),
        (LIVE, DRAFT | LONG, []),
        # it is live already: no edit of something else is stopped
        (LIVE | LONG, BYE, []),
        (LIVE | LONG, OTHER_LONG, LENGTH),
        (LIVE | LONG, LIVE, LENGTH),
        # an edit makes another field wrong
        (VALIDITY, COUNTS, [("validity", "/validity_period_seconds")]),
        (VALIDITY | COUNTS, BYE, []),
        # it breaks the document: only an edit of it is stopped, in a draft too
        (DRAFT | WRONG, BYE, []),
        (LIVE | WRONG, BYE, []),
        (DRAFT | WRONG, OTHER_WRONG, NAME),
        (LIVE | WRONG, OTHER_WRONG, NAME),
    ],
)
def test_a_plan_and_a_single_update_are_stopped_by_the_same_errors(
    endpoints, live, fields, stopped
):
    present = content(**live)
    result = check(endpoints, [change(**fields)], frame(present))
    assert places(select_errors(result.get(0, ()))) == stopped
    assert places(select_errors(endpoints.check_record(fields, present))) == stopped


HEADER = {"headers": [{"type": "text", "text": "Hi {{name}}, welcome"}]}


@pytest.mark.parametrize(
    ("fields", "live", "stopped"),
    [
        (DRAFT | {"text": "Hello {{name}}{{1}}, it is there."}, {}, NAME),
        (DRAFT | HEADER, {}, [("placeholder name", "/headers/0/text")]),
        (DRAFT | {"text": "{{1}}{{2}}" * 900}, {}, []),  # refused by the platform
        (LONG, None, LENGTH),  # who may not read the content is told as well
    ],
)
def test_a_new_or_unknown_content_is_checked_alone(endpoints, fields, live, stopped):
    assert places(select_errors(endpoints.check_record(fields, live))) == stopped


@pytest.mark.parametrize("value", [None, 7, [], {}, [None], [[]], [{"type": {}}]])
def test_a_value_of_another_shape_is_checked_without_an_exception(endpoints, value):
    for name in ("text", "headers", "buttons"):
        endpoints.check_record({name: value}, {})
        check(endpoints, [change(**{name: value})], NOTHING)


ENGLISH, EMPTY, BRAZILIAN = content(), content(text=""), content(lang_code="pt_BR")
GERMAN = content(lang_code="de", text="Hallo {{1}}, deine Bestellung {{2}} ist heute fertig!")
ONE_SLOT = {"text": "Hallo {{1}}, es ist heute da!", "variables": {"1": "Ana"}}
FOOTER, DELETE = change(lang="de", footer="Larkspur & Söhne"), change("delete")
TWICE = change(text="", buttons=[{"type": "custom", "label": "Yes"}] * 2, is_draft=True)
COPY = change("create", "de", **{k: v for k, v in GOOD.items() if k != "lang_code"})


@pytest.mark.parametrize(
    ("base", "changes", "options", "codes"),
    [
        ([ENGLISH, GERMAN], [change(variables={"1": "Ana"})], {}, {"sample missing"}),
        ([], [change(text="Hello {{1}}, it is ready for you today.")], {}, set()),
        ([EMPTY, GERMAN], [change(footer="Larkspur & Sons")], {}, {"text empty"}),
        ([EMPTY, GERMAN], [FOOTER], {}, {"placeholders differ"}),
        ([EMPTY, GERMAN], [DELETE], {}, set()),
        ([EMPTY, GERMAN], [change(lang="de", variables={}), DELETE], {}, {"sample missing"}),
        ([ENGLISH, GERMAN | ONE_SLOT], [FOOTER], {}, {"placeholders differ"}),
        ([ENGLISH, GERMAN | ONE_SLOT], [FOOTER, DELETE], {}, set()),
        ([ENGLISH], [TWICE], {}, {"text empty"}),  # equal labels are a note, no finding of a plan
        ([ENGLISH], [COPY], {}, {"untranslated"}),
        ([GERMAN, BRAZILIAN], [change(lang="de", **ONE_SLOT)], {}, set()),
        (
            [GERMAN, BRAZILIAN],
            [change(lang="de", **ONE_SLOT)],
            {"source": "pt"},
            {"placeholders differ"},
        ),
    ],
)
def test_a_plan_reports_what_a_changed_content_has_as_part_of_all(
    endpoints, base, changes, options, codes
):
    vars(endpoints).update(options)
    result = check(endpoints, changes, frame(*base) if base else NOTHING)
    assert {each.code for each in select_errors_and_warnings(result.pop(0, ()))} == codes
    assert not result

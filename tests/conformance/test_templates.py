"""Facts about template contents: a service that breaks one is found out, and only that one."""

import pytest
from bent import Exchange, broken, differing, drop, envelope, put, record, sent, status

ALL = "list get create update"
FULL = "get create update"


def header(**fields):
    return record("templates", FULL, lambda c: c["headers"][0].update(fields))


class Doubled:
    """Make a second content of a language, instead of a conflict."""

    def __call__(self, x: Exchange) -> None:
        if x.of("templates", "list") and "twice" in x.segments[1] and x.records:
            x.envelope["data"] *= 2


class Ghosts:
    """Show contents that were deleted."""

    def __init__(self):
        self.contents = {}

    def __call__(self, x: Exchange) -> None:
        for content in x.records if x.of("templates", "create") else ():
            self.contents[x.segments[1], content["lang_code"]] = x.body
        if x.of("templates", "get") and x.status == 404:
            x.status, x.body = 200, self.contents[x.segments[1], x.segments[-1]]


def of_any_type(name):
    """Take headers or buttons of any type."""

    def change(body):
        for item in body.get(name, ()):
            item["type"] = item["type"].replace("conformance", "text")
            if name == "buttons":
                item["type"] = item["type"].replace("text", "custom")

    return sent("templates", "create", change)


def unsearched(x: Exchange) -> None:
    if x.of("templates", "list"):
        x.query.clear()


@pytest.mark.one_of(3)
@pytest.mark.parametrize(
    ("facts", "before", "after"),
    [
        broken("ids are text", "content_id", after=put("templates", "list", id="7001")),
        broken("texts are left out of lists", "content_lang_code",
               after=drop("templates", "list", "text")),
        broken("drafts are 0 and 1", "content_is_draft",
               after=put("templates", "list", is_draft=1)),
        broken("there is no footer", "content_parameter_format",
               after=put("templates", "update", footer=None)),
        broken("variables are an array", "content_variables",
               after=put("templates", "create", variables=[])),
        broken("variables have names", "content_variables",
               after=put("templates", "create", variables={"name": "Ana"})),
        broken("a flag is null", "content_is_catalog",
               after=put("templates", "create", auth_add_code_expiration=None)),
        broken("a format is an object", "content_catalog_format",
               after=put("templates", "create", catalog_format={})),
        broken("a catalog is true", "content_connected_catalog_id",
               after=put("templates", "create", connected_catalog_id=True)),
        broken("seconds are text", "content_validity_period_seconds",
               after=put("templates", "create", validity_period_seconds="60")),
        broken("apps have no hash", "content_auth_apps",
               after=put("templates", "create", auth_apps=[{"package_name": "x"}])),
        broken("a header has an odd type", "content_headers content_comes_back",
               after=header(type="gif")),
        broken("a header has no link", "content_headers", after=record(
            "templates", "create", lambda c: c["headers"][0].pop("link"))),
        broken("a button has no label", "content_buttons", after=record(
            "templates", "create", lambda c: c["buttons"][1].pop("label"))),
        broken("languages are strings", "languages",
               after=envelope("templates", "languages", data=["en"])),
        broken("languages have no label", "languages",
               after=drop("templates", "languages", "label")),
        broken("the list has none", "list_contents search_contents one_content_per_language",
               after=envelope("templates", "list", data=[])),
        broken("lists fail", "list_contents needs_chat_templates_view search_contents",
               after=status("templates", "list", 404)),
        broken("the search does nothing", "search_contents", before=unsearched),
        broken("get shows another language", "get_content content_comes_back",
               after=put("templates", "get", lang_code="de")),
        broken("create answers with nothing", "create_content",
               after=envelope("templates", "create", data=None)),
        broken("a language is converted", "language_codes",
               after=record("templates", "create",
                            lambda c: c.update(lang_code=c["lang_code"].replace("_", "-")))),
        broken("buttons are lost", "content_comes_back", after=put("templates", "get", buttons=[])),
        broken("a language has two contents", "one_content_per_language", after=Doubled()),
        broken("headers are of any type", "header_types", before=of_any_type("headers")),
        broken("buttons are of any type", "button_types", before=of_any_type("buttons")),
        broken("update answers with null", "update_content",
               after=envelope("templates", "update", data=None)),
        broken("update keeps the text", "update_changes_content",
               before=sent("templates", "update", lambda b: b.pop("text"))),
        broken("drafts stay drafts", "is_draft_is_set_by_the_client",
               before=sent("templates", "update", lambda b: b.update(is_draft=True))),
        broken("delete answers with the content", "delete_content",
               after=envelope("templates", "delete", data={"id": 7001})),
        broken("deleted contents can be read", "deleted_content_is_gone", after=Ghosts()),
    ],
)  # fmt: skip
def test_a_broken_fact_is_found(facts, before, after):
    assert differing(before, after) == facts

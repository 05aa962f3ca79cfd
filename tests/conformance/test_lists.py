"""Facts about the envelope and pages: a service that breaks one is found out."""

import pytest
from bent import Exchange, bare, broken, differing, envelope, status

ANY = "list get create update languages"


def pagination(**fields):
    """Change the pagination of lists."""

    def after(x: Exchange) -> None:
        told = x.envelope.get("pagination")
        if told:
            told.update({name: change(told) for name, change in fields.items()})

    return after


def size_ignored(x: Exchange) -> None:
    x.query.pop("pageSize", None)


class Overlap:
    """Begin the second page where the first one began."""

    def before(self, x: Exchange) -> None:
        self.second = x.query.get("page") == "2"
        if self.second:
            x.query["page"] = "1"

    def after(self, x: Exchange) -> None:
        if self.second and x.envelope:
            x.envelope["pagination"]["page"] = 2


def gone(x: Exchange) -> None:
    x.status, x.envelope, x.body = 404, {}, b""


def plain_text(x: Exchange) -> None:
    if x.of("contacts", "update") and x.envelope:
        x.envelope, x.body = {}, b"done"


overlap = Overlap()


@pytest.mark.one_of(3)
@pytest.mark.parametrize(
    ("facts", "before", "after"),
    [
        broken("an answer is plain text", "json_bodies update_contact", after=plain_text),
        broken("success is text", "success_is_true",
               after=envelope("flows", "list", success="yes")),
        broken("success is false", "success_is_true",
               after=envelope("flows", "list", success=False)),
        broken("success is missing", "success_is_true", after=bare("any", ANY, "success")),
        broken("statusCode is text", "status_code",
               after=envelope("contacts", "get", statusCode="200")),
        broken("statusCode is another", "status_code",
               after=envelope("contacts", "get", statusCode=0)),
        broken("message is an array", "message_is_text create_flow",
               after=envelope("flows", "create", message=["Flow created"])),
        broken("data is text", "data_kinds delete_flow",
               after=envelope("flows", "delete", data="deleted")),
        broken("data is missing", "data_kinds delete_flow", after=bare("flows", "delete", "data")),
        broken("webhooks have pagination", "pagination_on_pages_only",
               after=envelope("webhooks", "list", pagination={"page": 1})),
        broken("a record has pagination", "pagination_on_pages_only",
               after=envelope("flows", "get", pagination=None)),
        broken("totals are text", "pagination_fields",
               after=pagination(totalCount=lambda told: str(told["totalCount"]))),
        broken("totals are null", "pagination_fields",
               after=pagination(totalPages=lambda told: None)),
        broken("pages are one off", "page_size", after=pagination(page=lambda t: t["page"] + 1)),
        broken("pages are rounded down", "page_size",
               after=pagination(totalPages=lambda t: t["totalCount"] // t["pageSize"] + 1)),
        broken("the size told is another", "page_size", after=pagination(pageSize=lambda t: 10)),
        broken("the size is ignored", "page_size", before=size_ignored),
        broken("pages overlap", "pages_follow", before=overlap.before, after=overlap.after),
    ],
)  # fmt: skip
def test_a_broken_fact_is_found(facts, before, after):
    assert differing(before, after) == facts


def test_a_service_without_any_list_breaks_the_paths():
    assert "paths" in differing(after=gone)


def test_a_token_that_may_nothing_tells_nothing():
    def forbidden(x: Exchange) -> None:
        gone(x)
        x.status = 403

    assert differing(after=forbidden) == set()


def test_server_faults_are_told_where_they_happen():
    assert differing(after=status("flows", "create", 500)) == {"create_flow"}

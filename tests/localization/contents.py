"""Contents for the tests: a good one, and what is found in one that is not."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import strategies as st

import chatkit
from chatkit.localization.audit import Audit, check_contents

#: Every field that `get` shows, as the service fills them.
GOOD: dict[str, Any] = {
    "lang_code": "en",
    "parameter_format": "TEXT",
    "text": "Hello {{1}}, your order {{2}} is ready, come and collect it today.",
    "variables": {"1": "Ana", "2": "A-17"},
    "footer": "Larkspur",
    "is_draft": False,
    "is_catalog": False,
    "catalog_format": None,
    "connected_catalog_id": None,
    "is_catalog_connected": False,
    "is_custom_validity_period": False,
    "validity_period_seconds": None,
    "auth_delivery_method": None,
    "auth_add_security_recommendation": False,
    "auth_add_code_expiration": False,
    "auth_code_expiration_seconds": None,
    "auth_apps": None,
    "headers": [],
    "buttons": [],
}


def cases(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test with each of its cases in tables.txt, which stand below its name."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        title = test.__name__.removeprefix("test_").replace("_", " ")
        text = Path(__file__).with_name("tables.txt").read_text("utf-8")
        lines = text.partition(f"# {title}\n")[2].partition("\n# ")[0].splitlines()
        rows = [json.loads(line) for line in lines if not line.startswith("## ")]
        assert rows, title
        return pytest.mark.parametrize(names if len(names) > 1 else names[0], rows)(test)

    return decorate


def content(**fields: Any) -> dict[str, Any]:
    """A content without fault, but for the fields named."""
    return {**GOOD, **fields}


def audit(**fields: Any) -> Audit:
    """Return the findings of a content that is valid except for the named fields."""
    return check_contents(content(**fields))


def codes(**fields: Any) -> set[str]:
    """The codes of what is found in such a content."""
    return {result.code for result in audit(**fields)}


def frame(*contents: Mapping[str, Any], template: str = "order_ready") -> pd.DataFrame:
    """A frame as `templates.frame` gives it."""
    rows = [{"template_code": template, **each} for each in contents]
    return pd.DataFrame(rows).set_index(["template_code", "lang_code"])


def button(kind: str, label: str | None = "Go", **fields: Any) -> dict[str, Any]:
    """A button."""
    return {"type": kind, "label": label, **fields}


def website(value: str, **fields: Any) -> dict[str, Any]:
    """A button that leads to an address."""
    return button("visit_website", value=value, **fields)


def naughty(shared: Path) -> list[str]:
    """The big list of naughty strings, and some that are naughty to templates."""
    texts: list[str] = json.loads((shared / "corpora/blns/blns.json").read_text(encoding="utf-8"))
    more = [
        "{{",
        "}}{{",
        "{{1}}{{",
        "{" * 999,
        "{{\u0661}}",
        "{{ }}",
        "｛｛1｝｝",
        "\ud800",
        "x" * 9999,
    ]
    return texts + more


DEMO = (
    "order_ready",
    "rental_reminder",
    "appointment_confirmed",
    "spring_offer",
    "login_code",
    "review_request",
)


@pytest.fixture(scope="module")
def demo():
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        return client.templates.frame(DEMO, full=True)


# --- whatever may stand in the cells ---------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda each: (
        st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=6), each, max_size=3)
    ),
    max_leaves=6,
)
TEXT = st.text(alphabet="{}12 aя\u05d0\u0661👍.\n\ud800", max_size=30) | st.sampled_from(
    [GOOD["text"], "{{1}}", "{{1}}{{2}}", ""]
)
BUTTON = st.fixed_dictionaries(
    {"type": st.sampled_from(["custom", "visit_website", "call_phone", "copy_offer_code", "x"])},
    optional={"label": TEXT | JSON, "value": TEXT | JSON, "url_type": JSON, "country_code": JSON},
)
HEADER = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image", "x"]) | JSON},
    optional={"text": TEXT | JSON, "link": TEXT | JSON, "parameter": JSON},
)
FIELDS = {
    "text": TEXT,
    "footer": TEXT,
    "variables": st.dictionaries(st.sampled_from("0123x"), TEXT | JSON, max_size=3),
    "headers": st.lists(HEADER | JSON, max_size=2),
    "buttons": st.lists(BUTTON | JSON, max_size=4),
    "auth_apps": st.lists(JSON, max_size=2),
}
CONTENT = st.fixed_dictionaries(
    {"lang_code": st.sampled_from(["en", "de", "ar", "en-US", "zz"]) | JSON},
    optional={name: FIELDS.get(name, JSON) | JSON for name in GOOD if name != "lang_code"}
    | {"template_code": st.sampled_from("ab") | JSON, "updated_at": JSON},
)

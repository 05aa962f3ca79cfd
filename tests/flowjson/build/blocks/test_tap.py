"""Components that a person taps to get on."""

from chatkit.flowjson import (
    Complete,
    EmbeddedLink,
    End,
    Footer,
    ListItem,
    MainContent,
    Navigate,
    NavigationList,
    OpenUrl,
    Start,
)


def test_a_link() -> None:
    assert EmbeddedLink("Terms", OpenUrl("https://x.example"), visible="${data.new}").to_json() == {
        "type": "EmbeddedLink",
        "text": "Terms",
        "on-click-action": {"name": "open_url", "url": "https://x.example"},
        "visible": "${data.new}",
    }


def test_a_button_with_captions() -> None:
    footer = Footer("Pay", Complete(), left_caption="Total", right_caption="9 €", enabled=False)
    assert footer.to_json() == {
        "type": "Footer",
        "label": "Pay",
        "left-caption": "Total",
        "right-caption": "9 €",
        "on-click-action": {"name": "complete"},
        "enabled": False,
    }


def test_a_list_of_targets() -> None:
    item = ListItem(
        "a",
        MainContent("Bikes", description="12 of them"),
        start=Start("iVBOR", alt_text="A bike"),
        end=End(title="9 €"),
        badge="New",
        tags=["red", "blue"],
        on_click_action=Navigate("BIKES"),
    )
    assert NavigationList("all", [item]).to_json() == {
        "type": "NavigationList",
        "name": "all",
        "list-items": [
            {
                "id": "a",
                "main-content": {"title": "Bikes", "description": "12 of them"},
                "start": {"image": "iVBOR", "alt-text": "A bike"},
                "end": {"title": "9 €"},
                "badge": "New",
                "tags": ["red", "blue"],
                "on-click-action": Navigate("BIKES").to_json(),
            }
        ],
    }

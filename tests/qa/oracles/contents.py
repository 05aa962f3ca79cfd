"""A second reading of what the platform publishes about the contents of templates.

Codes are the platform's error numbers where it has one; other rules carry INVALID_FORMAT, the
reason it gives when it rejects a template. Unlike those of a flow, the lengths of a template
have an error number of their own, so they are refused. Our content tells no category, so
what depends on it is not checked. What the API document does not show, like which fields a
button needs here, is only warned about.
"""

import re
from collections import Counter
from typing import Any, TypeGuard

from oracles.finding import Finding, Findings, step
from oracles.flows.references import json_type

LENGTH, HEADER, BODY, FOOTER, EDGE = "2388040", "2388047", "2388072", "2388073", "2388299"
FORMAT = "INVALID_FORMAT"
_PRESET = "{{1}} is your verification code."
_SETTINGS = ("auth_delivery_method", "auth_add_security_recommendation", "auth_add_code_expiration")
_SLOT = re.compile(r"\{\{([^{}]*)\}\}")
#: What is left of braces when the placeholders are taken out, each for a NUL.
_STRAY = re.compile(r"\{\{|\}\}|\{\s*\d+\s*\}|[｛｝]|\{\0|\0\}")
_ADDRESS = re.compile(r"https?://[^\s/]\S*", re.IGNORECASE)
_LINK = re.compile(r"https?://|www\.", re.IGNORECASE)
_ADJACENT = re.compile(r"\}\}\s*\{\{")
_PACKAGE = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)+", re.ASCII)
_HASH = re.compile(r"[A-Za-z0-9+/=]{11}")
_BUTTONS = {  # by type (how many at most, length of its value)
    "custom": (10, None),
    "visit_website": (2, 2000),
    "call_phone": (1, 20),
    "copy_offer_code": (1, 15),
    "view_catalog": (1, None),
}
_UNLABELLED = ("copy_offer_code", "view_catalog")  # the platform writes on these itself
_VALIDITY = range(30, 2_592_001)  # the widest of the three categories
_CODE_VALIDITY = range(30, 901)
_EXPIRATION = range(60, 5_401)  # 1 to 90 minutes


def _authenticates(content: dict[str, Any]) -> bool:
    """Return whether a content sends a code, by its settings or the platform's own text."""
    text = content.get("text")
    preset = isinstance(text, str) and text.replace("*", "").startswith(_PRESET)
    return preset or any(map(content.get, _SETTINGS))


def check_content(content: object) -> list[Finding]:
    """Return the platform's findings for a template content, as far as they are known.

    Takes any JSON value, never raises, and costs time linear in its size.
    """
    findings = Findings()
    if not isinstance(content, dict):
        findings.error(FORMAT, "", "a content is an object")
        return findings
    _body(content, findings)
    footer = content.get("footer")
    if footer and _is_text(footer, "/footer", FOOTER, 60, findings) and _SLOT.search(footer):
        findings.error(FOOTER, "/footer", "a footer takes no placeholder")
    _headers(content.get("headers") or [], findings)
    _buttons(content.get("buttons") or [], content, findings)
    if content.get("is_custom_validity_period") is True:
        allowed = _CODE_VALIDITY if _authenticates(content) else _VALIDITY
        seconds = content.get("validity_period_seconds")
        if seconds != -1 and not _within(seconds, allowed):
            text = f"{allowed.start} to {allowed.stop - 1} seconds"
            findings.error(FORMAT, "/validity_period_seconds", text)
    seconds = content.get("auth_code_expiration_seconds")
    if content.get("auth_add_code_expiration") is True and not _within(seconds, _EXPIRATION):
        at = "/auth_code_expiration_seconds"
        findings.error(FORMAT, at, f"{_EXPIRATION.start} to {_EXPIRATION.stop - 1} seconds")
    _apps(content.get("auth_apps") or [], findings)
    if _authenticates(content):
        _authentication(content, findings)
    return findings


def _is_text(value: Any, at: str, code: str, most: int, findings: Findings) -> TypeGuard[str]:
    if not isinstance(value, str):
        findings.error(code, at, "must be a text")
    elif len(value) > most:
        findings.error(LENGTH, at, f"{len(value)} characters, at most {most}")
    return isinstance(value, str)


def _within(value: Any, allowed: range) -> bool:
    return json_type(value) == "number" and allowed.start <= value < allowed.stop


def _placeholders(text: str, at: str, code: str, findings: Findings) -> list[str]:
    """The placeholders of a text in order of appearance; they count up from 1."""
    if _STRAY.search(_SLOT.sub("\0", text.replace("\0", " "))):
        findings.error(code, at, "a brace stands alone")
    result = list(dict.fromkeys(slot[1] for slot in _SLOT.finditer(text)))
    if set(result) != {str(number + 1) for number in range(len(result))}:
        findings.error(code, at, "placeholders are {{1}}, {{2}} and so on, without a gap")
    return result


def _body(content: dict[str, Any], findings: Findings) -> None:
    text = content.get("text")
    if not _is_text(text, "/text", BODY, 1024, findings):
        return
    if text.startswith("\n") or "\n\n\n" in text:
        findings.error(BODY, "/text", "no line break first, and no three in a row")
    if not text.strip():
        if not _authenticates(content):  # the platform writes that one itself
            findings.error(BODY, "/text", "the body must not be blank")
        return
    result = _placeholders(text, "/text", BODY, findings)
    if _authenticates(content):  # its text is the platform's own, without samples
        return
    trimmed = text.strip()
    if result and (trimmed.startswith("{{") or trimmed.endswith("}}")):
        findings.error(EDGE, "/text", "a placeholder cannot be first or last")
    if _ADJACENT.search(text):
        findings.error(FORMAT, "/text", "two placeholders need text between them")
    samples = content.get("variables")
    samples = samples if isinstance(samples, dict) else {}
    for name in result:
        if not (isinstance(samples.get(name), str) and samples[name].strip()):
            findings.error(FORMAT, step("/variables", name), "a placeholder needs a sample")
    for name in samples.keys() - set(result):
        findings.warning(FORMAT, step("/variables", name), "the text has no such placeholder")


def _headers(headers: Any, findings: Findings) -> None:
    if not isinstance(headers, list):
        findings.error(HEADER, "/headers", "must be an array")
        return
    if len(headers) > 1:
        findings.error(HEADER, "/headers", "at most one header")
    for index, header in enumerate(headers):
        at = step("/headers", index)
        kind = header.get("type") if isinstance(header, dict) else None
        if kind in ("image", "video", "document"):
            link = header.get("link")
            if not (link or header.get("parameter")):
                findings.error(HEADER, step(at, "link"), "a medium needs a sample")
            elif link and not (isinstance(link, str) and _ADDRESS.fullmatch(link)):
                findings.error(HEADER, step(at, "link"), "a sample is an address")
        elif kind != "text":
            findings.error(HEADER, at, "a header is a text, image, video or document")
        elif _is_text(header.get("text"), step(at, "text"), HEADER, 60, findings):
            if not header["text"].strip():
                findings.error(HEADER, step(at, "text"), "must not be blank")
            result = _placeholders(header["text"], step(at, "text"), HEADER, findings)
            if len(_SLOT.findall(header["text"])) > 1:
                findings.error(HEADER, step(at, "text"), "at most one placeholder")
            # which of the two fields holds the sample is not documented: either will do
            if result and not (header.get("text_variable") or header.get("parameter")):
                findings.error(HEADER, step(at, "text_variable"), "a placeholder needs a sample")


def _buttons(buttons: Any, content: dict[str, Any], findings: Findings) -> None:
    if not isinstance(buttons, list):
        findings.error(FORMAT, "/buttons", "must be an array")
        return
    if len(buttons) > 10:
        findings.error(FORMAT, "/buttons", "at most 10 buttons")
    kinds = [button.get("type") if isinstance(button, dict) else None for button in buttons]
    for index, (button, kind) in enumerate(zip(buttons, kinds, strict=True)):
        at = step("/buttons", index)
        if not isinstance(kind, str) or kind not in _BUTTONS:
            findings.error(FORMAT, at, f"a button is one of {', '.join(_BUTTONS)}")
            continue
        label = button.get("label")
        if label is None and kind in _UNLABELLED:
            label = "none is needed"
        written = _is_text(label, step(at, "label"), FORMAT, 25, findings)
        if written and not label.strip() and kind not in _UNLABELLED:
            findings.error(FORMAT, step(at, "label"), "must not be blank")
        if written and (_SLOT.search(label) or "\n" in label):
            findings.error(FORMAT, step(at, "label"), "no placeholder, no line break")
        value, most = button.get("value"), _BUTTONS[kind][1]
        if value is None and kind == "call_phone":
            findings.warning(FORMAT, step(at, "value"), "a number is called")
        elif most is not None and _is_text(value, step(at, "value"), FORMAT, most, findings):
            _value(button, kind, value, at, findings)
            # the code of an authentication is the platform's own
            if kind == "copy_offer_code" and not (value.strip() or _authenticates(content)):
                findings.error(FORMAT, step(at, "value"), "must not be blank")
    for kind, count in Counter(kind for kind in kinds if kind in tuple(_BUTTONS)).items():
        if count > _BUTTONS[kind][0]:
            findings.error(FORMAT, "/buttons", f"{count} {kind}, at most {_BUTTONS[kind][0]}")
    if "view_catalog" in kinds and len(kinds) > 1:
        findings.error(FORMAT, "/buttons", "view_catalog stands alone")
    quick = [index for index, kind in enumerate(kinds) if kind == "custom"]
    if quick and quick[-1] - quick[0] >= len(quick):
        findings.error(FORMAT, "/buttons", "custom buttons stand together")


def _value(button: dict[str, Any], kind: str, value: str, at: str, findings: Findings) -> None:
    if kind == "call_phone" and not button.get("country_code"):
        findings.warning(FORMAT, step(at, "country_code"), "a number needs its country code")
    if kind == "visit_website":
        if not _ADDRESS.fullmatch(value.strip()):
            findings.error(FORMAT, step(at, "value"), "must be an address")
        elif slots := _placeholders(value, step(at, "value"), FORMAT, findings):
            if len(_SLOT.findall(value)) > 1 or not value.rstrip().endswith("}}"):
                findings.error(FORMAT, step(at, "value"), f"one placeholder, at the end: {slots}")
            if not button.get("dynamic_url"):
                findings.error(FORMAT, step(at, "dynamic_url"), "a placeholder needs a sample")


def _authentication(content: dict[str, Any], findings: Findings) -> None:
    if any(content.get(field) for field in ("headers", "is_catalog")):
        findings.error(FORMAT, "/headers", "an authentication content takes no medium")
    if _LINK.search(str(content.get("text", ""))):
        findings.error(BODY, "/text", "an authentication content takes no address")
    # only copy_code is shown; of the two other methods upstream both hand the code to an app
    method = content.get("auth_delivery_method")
    if method in ("one_tap", "zero_tap") and not content.get("auth_apps"):
        findings.error(FORMAT, "/auth_apps", f"{method} needs an app")


def _apps(apps: Any, findings: Findings) -> None:
    if not isinstance(apps, list):
        findings.error(FORMAT, "/auth_apps", "must be an array")
        return
    if len(apps) > 5:
        findings.error(FORMAT, "/auth_apps", "at most 5 apps")
    for index, app in enumerate(apps):
        at = step("/auth_apps", index)
        app = app if isinstance(app, dict) else {}
        package, signature = app.get("package_name"), app.get("signature_hash")
        if not (isinstance(package, str) and len(package) < 225 and _PACKAGE.fullmatch(package)):
            findings.error(FORMAT, step(at, "package_name"), "not the name of a package")
        if not (isinstance(signature, str) and _HASH.fullmatch(signature)):
            findings.error(FORMAT, step(at, "signature_hash"), "a hash has 11 characters")

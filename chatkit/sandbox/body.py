"""Bodies: a JSON object read so strictly that it can always be stored and sent back equal."""

from collections.abc import Mapping
from json import JSONDecodeError, JSONDecoder, JSONEncoder
from math import isinf
from typing import Any, NoReturn

from chatkit.sandbox.refusal import Refusal

MAX_DEPTH = 64

dumps = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def read_object(headers: Mapping[str, str], body: bytes, max_body: int) -> dict[str, Any]:
    """The JSON object in a body.

    Raises:
        Refusal: It is no JSON by its content type, too large, or not one object of
            plain JSON: UTF-8, no duplicate keys, no NaN, no lone surrogates, at most
            64 levels deep.
    """
    content_type = headers.get("content-type", "")
    if content_type != "application/json":
        _check_type(content_type)
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Refusal("media_type", "The body must not be compressed")
    if len(body) > max_body:
        raise Refusal("too_large", f"The body has more than {max_body} bytes")
    try:
        text = body.decode().strip(" \t\r\n")
        value, end = _decoder.raw_decode(text)
        if end != len(text):
            raise _malformed("something follows the JSON value")
        if b"\\u" in body:
            dumps(value).encode()
    except JSONDecodeError as error:
        raise _malformed(f"{error.msg} at character {error.pos}") from None
    except UnicodeDecodeError:
        raise _malformed("it is not UTF-8") from None
    except UnicodeEncodeError:
        raise _malformed("it has a lone surrogate") from None
    except RecursionError:
        raise _malformed(f"it is more than {MAX_DEPTH} levels deep") from None
    except ValueError:
        raise _malformed("it has a number with too many digits") from None
    if not isinstance(value, dict):
        raise _malformed("it must be an object")
    if body.count(b"{") + body.count(b"[") > MAX_DEPTH and _is_deep(value):
        raise _malformed(f"it is more than {MAX_DEPTH} levels deep")
    return value


def _check_type(content_type: str) -> None:
    kind, *parameters = (part.strip().lower() for part in content_type.split(";"))
    if kind != "application/json" or any(
        part not in ("charset=utf-8", 'charset="utf-8"', "") for part in parameters
    ):
        raise Refusal("media_type", "The content type of a body must be application/json")


def _malformed(why: str) -> Refusal:
    return Refusal("malformed", f"The body is not a JSON object: {why}")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _malformed("an object names a field twice")
    return value


def _number(digits: str) -> float:
    value = float(digits)
    if isinf(value):
        raise _malformed("it has a number that is too large")
    return value


def _constant(name: str) -> NoReturn:
    raise _malformed(f"{name} is not a JSON number")


_decoder = JSONDecoder(object_pairs_hook=_object, parse_float=_number, parse_constant=_constant)


def _is_deep(value: object) -> bool:
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True

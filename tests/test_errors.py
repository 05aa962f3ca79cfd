"""The exceptions: drawn as they are, and each says what to do next."""

import re

import chatkit.errors as errors
from chatkit.call import Call


def test_the_tree_in_the_docstring_is_the_tree_in_the_code():
    lines = re.findall(r"^([ │]*(?:[├└]── )?)(\w+)(?:  .*)?$", errors.__doc__.split("```")[1], re.M)
    drawn, path = {}, []
    for indent, name in lines:
        depth = len(indent) // 4
        path[depth:] = [name]
        drawn[name] = path[depth - 1] if depth else "Exception"
    real = {
        name: next(b.__name__ for b in cls.__mro__[1:] if issubclass(b, Exception))
        for name, cls in vars(errors).items()
        if isinstance(cls, type) and issubclass(cls, errors.ChatkitError)
    }
    assert drawn == real


def test_a_lost_write_says_to_look_first_and_a_lost_read_does_not():
    write = errors.InDoubt(Call("POST", ("contacts",)), "reset")
    read = errors.InDoubt(Call("GET", ("contacts",)), "reset")
    assert "read it back before you repeat it" in str(write)
    assert "read it back" not in str(read)

"""What the tests of the four rooms share: a client of an empty sandbox under many profiles.

Each test meets the default profile and a share of the others, another one for each test, so
that a room meets them all; `make fuzz` has each test meet all of them (tests/conftest.py).
"""

from collections.abc import Iterator

import pytest
from profiles import PROFILES

import chatkit
from chatkit.client import Client


@pytest.fixture(params=range(len(PROFILES)), ids=[f"profile{n}" for n in range(len(PROFILES))])
def sandbox(request: pytest.FixtureRequest) -> Iterator[chatkit.Sandbox]:
    with chatkit.Sandbox(seed="empty", profile=PROFILES[request.param]) as sandbox:
        yield sandbox


@pytest.fixture
def client(sandbox: chatkit.Sandbox) -> Iterator[Client]:
    with chatkit.connect(sandbox) as client:
        yield client

"""Keyrings for tests: one that keeps its secrets in a file, and two that fail.

A process of its own takes one with PYTHON_KEYRING_BACKEND=keyrings.FileKeyring and this
folder on its PYTHONPATH.
"""

import json
import os
from pathlib import Path
from typing import NoReturn

from keyring.backend import KeyringBackend


class FileKeyring(KeyringBackend):
    """Keeps everything in the file that KEYRING_FILE names."""

    priority = 0  # never chosen by itself

    def _kept(self) -> dict[str, str]:
        path = Path(os.environ["KEYRING_FILE"])
        return json.loads(path.read_text()) if path.exists() else {}

    def _keep(self, secrets: dict[str, str]) -> None:
        Path(os.environ["KEYRING_FILE"]).write_text(json.dumps(secrets))

    def get_password(self, service: str, username: str) -> str | None:
        return self._kept().get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._keep(self._kept() | {f"{service}/{username}": password})

    def delete_password(self, service: str, username: str) -> None:
        secrets = self._kept()
        del secrets[f"{service}/{username}"]
        self._keep(secrets)


class LoudKeyring(KeyringBackend):
    """A broken plug-in: every error it raises has the secret in its text."""

    priority = 0

    def get_password(self, service: str, username: str) -> NoReturn:
        raise OSError(f"cannot read {os.environ.get('MARKER_TOKEN')}")

    def set_password(self, service: str, username: str, password: str) -> NoReturn:
        raise ValueError(f"cannot keep {password} for {username}")

    def delete_password(self, service: str, username: str) -> NoReturn:
        raise KeyError(os.environ.get("MARKER_TOKEN"))


class ForgetfulKeyring(FileKeyring):
    """Accepts a secret and keeps nothing, as the null backend does."""

    priority = 0

    def set_password(self, service: str, username: str, password: str) -> None:
        pass

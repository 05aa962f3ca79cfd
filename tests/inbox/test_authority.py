"""Real TLS on one machine, trusted by who was told and by nobody else."""

import socket
import ssl
import threading

import pytest

from chatkit.inbox.receiver import Authority


def shake(server: ssl.SSLContext, client: ssl.SSLContext, name: str) -> str | None:
    """One handshake over a pair of sockets; the version of TLS that was agreed on."""
    near, far = socket.socketpair()

    def answer() -> None:
        try:
            with server.wrap_socket(far, server_side=True) as wrapped:
                wrapped.recv(1)
        except OSError:
            far.close()

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        with client.wrap_socket(near, server_hostname=name) as wrapped:
            return wrapped.version()
    finally:
        near.close()
        thread.join()


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "::1", "hooks.example"])
def test_a_certificate_is_for_its_host_and_for_loopback(name: str) -> None:
    authority = Authority()
    assert shake(authority.serving("hooks.example"), authority.trusting(), name) == "TLSv1.3"


def test_another_name_and_another_authority_are_not_trusted() -> None:
    authority = Authority()
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shake(authority.serving("localhost"), authority.trusting(), "other.example")
    with pytest.raises(ssl.SSLCertVerificationError, match=r"self.signed|issuer"):
        shake(authority.serving("localhost"), Authority().trusting(), "localhost")


def test_what_is_told_to_a_client_holds_no_key() -> None:
    authority = Authority()
    assert authority.pem.startswith(b"-----BEGIN CERTIFICATE") and b"PRIVATE" not in authority.pem
    client = ssl.create_default_context(cadata=authority.pem.decode())
    assert shake(authority.serving("localhost"), client, "localhost") == "TLSv1.3"

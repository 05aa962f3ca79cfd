"""A certificate authority of this process, so that deliveries on one machine use real TLS.

The only import of trustme. The key of the authority never leaves the memory, so nothing
that trusts it is in danger when the process has ended.
"""

from __future__ import annotations

import ssl

import trustme

from chatkit import temporary


class Authority:
    """Signs certificates for this machine, and tells a client whom to trust."""

    def __init__(self) -> None:
        self._authority = trustme.CA()

    @property
    def pem(self) -> bytes:
        """The certificate of the authority, to be trusted by who delivers to us."""
        return self._authority.cert_pem.bytes()

    def trusting(self) -> ssl.SSLContext:
        """A context of a client that trusts this authority and nobody else."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._authority.configure_trust(context)
        return context

    def serving(self, host: str) -> ssl.SSLContext:
        """A context of a server with a certificate for a host, and for loopback."""
        names = dict.fromkeys((host, "localhost", "127.0.0.1", "::1"))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        certificate = self._authority.issue_cert(*names).private_key_and_cert_chain_pem
        # Python reads a key from a file alone: one that no killed process leaves for ever.
        with certificate.tempfile(dir=str(temporary.folder())) as path:
            context.load_cert_chain(path)
        return context

"""Where a cluster's scheduler is, and by which certificates it and this machine know each other."""

from __future__ import annotations

import ipaddress
import os
import ssl
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from autograder.errors import CourseError


class AddressError(CourseError):
    """What was given is no address of a scheduler, or lacks certificates; one sentence says what to give."""


@dataclass(frozen=True, slots=True)
class Certificates:
    """Files in PEM format; "" for the one that Dask's own configuration names."""

    authority: str = ""
    """Who must have signed the scheduler's and the workers'."""
    own: str = ""
    key: str = ""
    """Of ``own``; it may be in the same file."""


def checked(address: str) -> str:
    """Return the address of a scheduler as Dask writes it.

    Raises:
        AddressError: it is none.
    """
    try:
        parts = urlsplit(address.strip())
        good = parts.scheme in ("tcp", "tls") and parts.hostname and parts.port and parts.path in ("", "/")
    except ValueError:
        good = False
    if not good:
        raise AddressError(
            f"--scheduler {address!r} is no address of a scheduler; give tcp://HOST:PORT or tls://HOST:PORT, as "
            "`dask scheduler` prints it"
        )
    return address.strip().rstrip("/")


def is_open(address: str) -> bool:
    """Return whether whoever is on the network may reach and read what goes to this address: tcp, and not loopback."""
    parts = urlsplit(address)
    if parts.scheme == "tls" or parts.hostname == "localhost":
        return False
    try:
        return not ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return True


def security(address: str, certificates: Certificates) -> Any:
    """Return Dask's ``Security`` for an address; None for tcp.

    Raises:
        AddressError: a certificate is missing or is none, or there are some and the address is not tls.
    """
    given = {"ca_file": certificates.authority, "client_cert": certificates.own, "client_key": certificates.key}
    if not address.startswith("tls://"):
        if any(given.values()):
            raise AddressError(f"--scheduler {address} is not encrypted, so it takes no certificates; give tls://...")
        return None
    from distributed.security import Security

    found = Security(require_encryption=True, **{f"tls_{name}": file for name, file in given.items() if file})
    needed = {
        "--tls-ca": (found.tls_ca_file, "ca-file"),
        "--tls-cert": (found.tls_client_cert, "client.cert"),
    }
    for option, (file, name) in needed.items():
        if not file:
            raise AddressError(f"{address} needs {option} FILE, or distributed.comm.tls.{name} in Dask's configuration")
    for file in filter(None, (found.tls_ca_file, found.tls_client_cert, found.tls_client_key)):
        if "\n" not in file and not os.access(file, os.R_OK):
            raise AddressError(f"{file}: there is no such certificate or key that can be read; {address} needs it")
    try:
        found.get_connection_args("client")
    except (ssl.SSLError, OSError, ValueError) as error:
        raise AddressError(
            f"{found.tls_ca_file}, {found.tls_client_cert}: no certificates in PEM format with their key "
            f"({type(error).__name__}: {error})"
        ) from None
    return found

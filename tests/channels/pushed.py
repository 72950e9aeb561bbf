"""A browser as its push service knows it: its keys, and what it reads in an encrypted message."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pywebpush import Vapid

from pbem.channels import web_push
from tests.channels.far_end import Request


class PushedBrowser:
    """A browser that takes notifications; `token` is what it gives the site beside its address."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._shared = bytes(range(16))
        point = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.token = ".".join(urlsafe_b64encode(each).decode().rstrip("=") for each in (point, self._shared))

    def reads(self, request: Request) -> Any:
        """The message in a request."""
        assert request.headers.get("content-encoding", request.headers.get("Content-Encoding")) == "aes128gcm"
        return json.loads(http_ece.decrypt(request.body, private_key=self._key, auth_secret=self._shared))


def signed_by(request: Request, secret: bytes) -> dict[str, Any]:
    """What a request says of its sender, once the signature was found to be of this key."""
    authorization = request.headers["Authorization"]
    assert Vapid.verify(authorization)
    token, key = (part.split("=", 1)[1] for part in authorization.removeprefix("vapid ").split(","))
    assert key == web_push.public_key(secret)
    claims: dict[str, Any] = json.loads(urlsafe_b64decode(token.split(".")[1] + "=="))
    return claims

"""Notifications in a browser, through the push service that its maker runs: encrypted for this browser alone.

The service learns when, to which browser and how long a message is. A message is kept there until its turn's deadline; a newer
one about the same turn replaces it. A notification of a turn that is over is ended by another message.
"""

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from pbem.channels.client import Client
from pbem.channels.message import Message, Result, Sent, judged
from pbem.domain.channels import CODE, Channel, PushSender, Target

_LONGEST_TEXT: Final = 1000
"""Letters of a text. Services take 4,096 bytes in all."""

_KEPT_FOR: Final = timedelta(days=7)
"""How long a message waits for its browser if it has no deadline, and at most."""

_UNSIGNED: Final = frozenset({401, 403})
"""Answers that refuse our signature, as while a clock is wrong. A browser that is gone gets 404 or 410."""

_WITHDRAWN_FOR: Final = timedelta(days=1)
_SIGNED_FOR: Final = timedelta(hours=12)


def send(client: Client, channel: Channel, message: Message, now: datetime) -> Sent:
    """Send a message. Its reference is the name of what it is about, by which it is withdrawn."""
    seat = [message.facts.get("table", {}).get("key"), message.facts.get("seat")]
    about = _name([*seat, message.facts.get("turn")]) if message.kind != CODE else message.id
    says = {
        "id": about,
        "tag": _name(seat),
        "title": message.title,
        "text": message.text[:_LONGEST_TEXT],
        "url": message.url,
        "code": message.facts.get("code", ""),
    }
    return _push(client, channel, says, about, _time_left(message, now), now)


def withdraw(client: Client, channel: Channel, message: Message, reference: str) -> Sent:
    """End the notification of a message that was sent."""
    says = {"withdrawn": reference, "title": message.title}
    return _push(client, channel, says, reference, _WITHDRAWN_FOR, message.at)


def public_key(secret: bytes) -> str:
    """The public half of a key, as browsers take it."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    point = _private_key(secret).public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return urlsafe_b64encode(point).decode().rstrip("=")


def _push(
    client: Client, channel: Channel, says: Mapping[str, Any], topic: str, keep: timedelta, now: datetime
) -> Sent:
    # Its two HTTP clients take half a second to load, and stay unused: what is sent goes through ours.
    from pywebpush import WebPusher

    if channel.push is None:
        return Sent(Result.GONE, "the key that the browser agreed to is no longer in use")
    if ":" in channel.target.host:
        # The signature has no way to say it.
        return Sent(Result.GONE, "a push service has a name, not an IPv6 address")
    receiver, _, shared = channel.secret.partition(".")
    pusher = WebPusher({"endpoint": "", "keys": {"p256dh": receiver, "auth": shared}})
    try:
        body = pusher.encode(json.dumps(says, ensure_ascii=False).encode())["body"]
    except ValueError:
        return Sent(Result.GONE, "the browser's key isn't valid")
    headers = {
        "Content-Type": "application/octet-stream",
        "Content-Encoding": "aes128gcm",
        "TTL": str(int(keep.total_seconds())),
        "Topic": topic,
        "Urgency": "high",
        "Authorization": _signed(channel.push, channel.target, now),
    }
    answer = client.send("POST", channel.target, channel.target.path, body, headers)
    if answer.status in _UNSIGNED:
        return Sent(Result.LATER, f"it answered {answer.status}, and took our signature for invalid")
    return judged(answer, topic)


def _signed(sender: PushSender, target: Target, now: datetime) -> str:
    """Says to the push service who sends (VAPID, RFC 8292)."""
    from pywebpush import Vapid

    claims = {
        "aud": f"{'https' if target.encrypted else 'http'}://{target.host}:{target.port}".removesuffix(":443"),
        "sub": f"mailto:{sender.contact}",
        "exp": int((now + _SIGNED_FOR).timestamp()),
    }
    signed: Mapping[str, str] = Vapid(_private_key(sender.key), {"no-strict": True}).sign(claims)
    return signed["Authorization"]


def _private_key(secret: bytes) -> Any:
    """The key that follows from 32 random bytes."""
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.derive_private_key(int.from_bytes(secret) % _LARGEST + 1, ec.SECP256R1())


_LARGEST: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632550
"""The largest private key on this curve."""


def _name(of: Sequence[object]) -> str:
    """A name for what some facts are about, in the letters of a topic."""
    return urlsafe_b64encode(hashlib.sha256(json.dumps(of).encode()).digest()).decode()[:32]


def _time_left(message: Message, now: datetime) -> timedelta:
    due_at = message.facts.get("due_at")
    if due_at is None:
        return _KEPT_FOR
    return max(timedelta(0), min(_KEPT_FOR, datetime.fromisoformat(due_at) - now))

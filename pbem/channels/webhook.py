"""A webhook: the message as JSON, signed as the Standard Webhooks specification says, with id and time.

The signature is over "id.time.body", by HMAC-SHA256 with the secret that its owner was shown; a receiver that compares the
time with its own clock refuses what someone sends again.
"""

import hmac
import json
from base64 import b64decode, b64encode
from datetime import datetime

from pbem.channels.client import Client
from pbem.channels.message import Message, Sent, judged
from pbem.domain.channels import SECRET_PREFIX, Channel


def send(client: Client, channel: Channel, message: Message, now: datetime) -> Sent:
    """Send a message."""
    body = json.dumps(
        {
            "id": message.id,
            "type": message.kind,
            "at": message.at.isoformat(),
            "title": message.title,
            "text": message.text,
            "url": message.url,
            **message.facts,
        },
        ensure_ascii=False,
    ).encode()
    moment = str(int(now.timestamp()))
    headers = {
        "Content-Type": "application/json",
        "webhook-id": message.id,
        "webhook-timestamp": moment,
        "webhook-signature": f"v1,{signature(channel.secret, message.id, moment, body)}",
    }
    return judged(client.send("POST", channel.target, channel.target.path, body, headers))


def signature(secret: str, message_id: str, moment: str, body: bytes) -> str:
    """The signature of a body that was sent at a moment, in seconds since 1970."""
    key = b64decode(secret.removeprefix(SECRET_PREFIX))
    return b64encode(hmac.digest(key, f"{message_id}.{moment}.".encode() + body, "sha256")).decode()

"""Discord: a message in a channel, by a webhook of it. It mentions nobody and shows no preview of a link."""

import json
import re
from datetime import datetime
from typing import Final

from pbem.channels.client import Client
from pbem.channels.message import Message, Sent, judged, member
from pbem.domain.channels import Channel

_LONGEST: Final = 2000
_MARKS: Final = re.compile(r"([\\*_~`|>#\[\]()<@])")
_NO_PREVIEW: Final = 1 << 2


def send(client: Client, channel: Channel, message: Message, now: datetime) -> Sent:
    """Send a message."""
    path = channel.target.path
    answer = client.send("POST", channel.target, f"{path}?wait=true", _body(message), _HEADERS)
    return judged(answer, member(answer, "id"))


def edit(client: Client, channel: Channel, message: Message, reference: str) -> Sent:
    """Replace the text of a message."""
    path = f"{channel.target.path}/messages/{reference}"
    return judged(client.send("PATCH", channel.target, path, _body(message), _HEADERS))


_HEADERS: Final = {"Content-Type": "application/json"}


def _body(message: Message) -> bytes:
    # Names and titles are what players typed: they format nothing.
    title, text = (_MARKS.sub(r"\\\1", part) for part in (message.title, message.text))
    content = "\n".join(part for part in (f"**{title}**", text, message.url) if part)
    return json.dumps({"content": content[:_LONGEST], "allowed_mentions": {"parse": []}, "flags": _NO_PREVIEW}).encode()

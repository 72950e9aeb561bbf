"""Telegram: a message in a chat, by a bot of the person's own, whose token is the secret."""

import json
from datetime import datetime
from typing import Any, Final

from pbem.channels.client import Answer, Client
from pbem.channels.message import Message, Sent, judged, member
from pbem.domain.channels import Channel

_LONGEST: Final = 4096


def send(client: Client, channel: Channel, message: Message, now: datetime) -> Sent:
    """Send a message."""
    answer = _call(client, channel, "sendMessage", message)
    return judged(answer, member(answer, "result", "message_id"))


def edit(client: Client, channel: Channel, message: Message, reference: str) -> Sent:
    """Replace the text of a message."""
    return judged(
        _call(client, channel, "editMessageText", message, message_id=int(reference) if reference.isdecimal() else 0)
    )


def _call(client: Client, channel: Channel, method: str, message: Message, **more: Any) -> Answer:
    folder, _, chat = channel.target.path.rpartition("/")
    body = {"chat_id": chat, "text": message.plain[:_LONGEST], "link_preview_options": {"is_disabled": True}, **more}
    headers = {"Content-Type": "application/json"}
    return client.send(
        "POST", channel.target, f"{folder}/bot{channel.secret}/{method}", json.dumps(body).encode(), headers
    )

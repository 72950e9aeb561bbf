"""Matrix: a notice in a room, by an account whose access token is the secret.

The message's id is its transaction's, so a homeserver that gets it twice shows it once.
"""

import json
from datetime import datetime
from typing import Any
from urllib.parse import quote

from pbem.channels.client import Answer, Client
from pbem.channels.message import Message, Sent, judged, member
from pbem.domain.channels import Channel


def send(client: Client, channel: Channel, message: Message, now: datetime) -> Sent:
    """Send a message."""
    answer = _put(client, channel, message.id, _notice(message))
    return judged(answer, member(answer, "event_id"))


def edit(client: Client, channel: Channel, message: Message, reference: str) -> Sent:
    """Replace the text of a message."""
    new = _notice(message)
    content = {**new, "m.new_content": new, "m.relates_to": {"rel_type": "m.replace", "event_id": reference}}
    return judged(_put(client, channel, f"{message.id}.done", content))


def _put(client: Client, channel: Channel, transaction: str, content: dict[str, Any]) -> Answer:
    folder, _, room = channel.target.path.rpartition("/")
    path = f"{folder}/_matrix/client/v3/rooms/{quote(room, safe='')}/send/m.room.message/{quote(transaction, safe='')}"
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {channel.secret}"}
    return client.send("PUT", channel.target, path, json.dumps(content).encode(), headers)


def _notice(message: Message) -> dict[str, Any]:
    return {"msgtype": "m.notice", "body": message.plain}

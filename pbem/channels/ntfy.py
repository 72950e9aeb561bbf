"""ntfy: a notification on a phone, by a topic of ntfy.sh or of a server of one's own, with an access token or without."""

import json
from datetime import datetime

from pbem.channels.client import Client
from pbem.channels.message import Message, Sent, judged
from pbem.domain.channels import Channel


def send(client: Client, channel: Channel, message: Message, now: datetime) -> Sent:
    """Send a message."""
    folder, _, topic = channel.target.path.rpartition("/")
    body = {"topic": topic, "title": message.title, "message": message.text}
    if message.url:
        body["click"] = message.url
    headers = {"Content-Type": "application/json"}
    if channel.secret:
        headers["Authorization"] = f"Bearer {channel.secret}"
    return judged(client.send("POST", channel.target, f"{folder}/", json.dumps(body).encode(), headers))

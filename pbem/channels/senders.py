"""The senders, by kind of channel. Each puts a message into the form of its service, and sends it by the one client."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from pbem.channels import discord, matrix, ntfy, telegram, web_push, webhook
from pbem.channels.client import Client, NotAllowed, Unreachable
from pbem.channels.message import Message, Result, Sent
from pbem.domain.channels import Channel, ChannelKind

Send = Callable[[Client, Channel, Message, datetime], Sent]
Edit = Callable[[Client, Channel, Message, str], Sent]

SENDERS: Final[Mapping[ChannelKind, Send]] = {
    ChannelKind.WEBHOOK: webhook.send,
    ChannelKind.NTFY: ntfy.send,
    ChannelKind.DISCORD: discord.send,
    ChannelKind.TELEGRAM: telegram.send,
    ChannelKind.MATRIX: matrix.send,
    ChannelKind.BROWSER: web_push.send,
}

EDITORS: Final[Mapping[ChannelKind, Edit]] = {
    ChannelKind.DISCORD: discord.edit,
    ChannelKind.TELEGRAM: telegram.edit,
    ChannelKind.MATRIX: matrix.edit,
    ChannelKind.BROWSER: web_push.withdraw,
}
"""How messages are edited, where a service can do that."""


def send(client: Client, channel: Channel, message: Message, now: datetime) -> Sent:
    """Send a message through a channel."""
    try:
        return SENDERS[channel.kind](client, channel, message, now)
    except NotAllowed as error:
        return Sent(Result.GONE, str(error))
    except Unreachable as error:
        return Sent(Result.LATER, str(error))


def edit(client: Client, channel: Channel, message: Message, reference: str) -> Sent:
    """Replace the text of a message that a channel has accepted."""
    try:
        return EDITORS[channel.kind](client, channel, message, reference)
    except NotAllowed as error:
        return Sent(Result.GONE, str(error))
    except Unreachable as error:
        return Sent(Result.LATER, str(error))

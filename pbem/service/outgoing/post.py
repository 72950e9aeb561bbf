"""What a process sends with, by its settings: the relay or the mailbox of a server without one, and the signer."""

import threading
from typing import TYPE_CHECKING

from pbem.config.settings import Config
from pbem.domain.errors import BadInput
from pbem.i18n.speech import gettext as _
from pbem.mail.send.local_mailbox import LocalMailbox
from pbem.mail.send.rate_limits import Throttle
from pbem.mail.send.relay import Relay
from pbem.mail.write.compose import Letterhead
from pbem.service.outgoing.deliver import Post

if TYPE_CHECKING:
    from pbem.mail.send.dkim import Signer


def post_of(config: Config, stopping: threading.Event | None = None) -> Post:
    """What to send with, by the settings: the relay, or without one the local mailbox; until told to stop."""
    stopping = stopping or threading.Event()
    letterhead = Letterhead(
        config.site.name,
        config.base_url,
        config.mail.domain,
        config.mail.sender,
        config.site.contact,
        replies=config.inbound.replies,
    )
    signer = signer_of(config)
    if config.smtp is None:
        return Post(letterhead, mailbox_of(config), signer=signer, stopping=stopping)
    throttle = Throttle(config.mail.per_second, config.mail.per_domain, config.mail.new_domain)
    return Post(letterhead, Relay(config.smtp, stopping=stopping), throttle, signer, stopping=stopping)


def signer_of(config: Config) -> "Signer | None":
    """The DKIM signer, if the settings have a key."""
    if config.dkim is None:
        return None
    try:
        from pbem.mail.send.dkim import signer
    except ImportError:
        raise BadInput(
            _("Emails can't be signed: the library for it isn't installed."),
            remedy=_("Install pbem's extra `dkim`, or remove PBEM_DKIM_PRIVATE_KEY."),
        ) from None
    return signer(config.dkim)


def mailbox_of(config: Config) -> LocalMailbox:
    """The mailbox of a server without a relay."""
    return LocalMailbox(config.data_dir / "mailbox")

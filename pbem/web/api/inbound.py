"""Emails that a provider hands in over HTTP, for servers without a mail server of their own.

The body is the email as it came. Two headers have its envelope, one the time in seconds, and one a signature over all of
these, made with a secret from the settings:

    X-Pbem-From, X-Pbem-To, X-Pbem-Time
    X-Pbem-Signature    HMAC-SHA256 over time, from and to, each followed by a line feed, and the body; in hexadecimal

A request that is sent twice is one email. Without a secret in the settings the address does not exist.
"""

import hmac
import re
from datetime import timedelta
from typing import Final

from flask import Blueprint, Response, request

from pbem.domain.errors import BadInput, Forbidden, NotFound
from pbem.i18n.speech import gettext as _
from pbem.service.incoming import authenticity, receive
from pbem.web import site

pages = Blueprint("inbound", __name__)

OLDEST: Final = timedelta(minutes=5)
"""The greatest age of a signed request: someone who gets hold of one cannot use it later."""

LONGEST_ENVELOPE: Final = 320


@pages.post("/inbound")
def take() -> Response:
    """Store an email that came in."""
    config = site.config()
    if not config.inbound.secret:
        raise NotFound(_("There is nothing at this address."))
    # No other address takes whole emails.
    request.max_content_length = config.limits.mail_bytes
    body = request.get_data(cache=False)
    envelope_from, envelope_to, time = (request.headers.get(f"X-Pbem-{name}", "") for name in ("From", "To", "Time"))
    signed = f"{time}\n{envelope_from}\n{envelope_to}\n".encode("utf-8", "surrogateescape") + body
    signature = hmac.digest(config.inbound.secret.encode(), signed, "sha256").hex()
    if not hmac.compare_digest(signature.encode(), request.headers.get("X-Pbem-Signature", "").lower().encode()):
        raise Forbidden(_("This email isn't signed correctly."), remedy=_("Sign it with the secret from the settings."))
    if not re.fullmatch("[0-9]{1,12}", time, re.ASCII) or not _is_now(int(time)):
        raise Forbidden(
            _("This request is too old, or from the future."), remedy=_("Correct the clocks, and sign it again.")
        )
    if not envelope_to or max(len(envelope_from), len(envelope_to)) > LONGEST_ENVELOPE:
        raise BadInput(_("This email has no recipient."), why=_("Name one recipient in X-Pbem-To."))
    receive.receive(site.server(), authenticity.inbound_settings(config), envelope_from, envelope_to, body)
    return Response(status=204)


def _is_now(seconds: int) -> bool:
    return abs(site.server().now().timestamp() - seconds) <= OLDEST.total_seconds()

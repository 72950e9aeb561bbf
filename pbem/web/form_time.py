"""When a form was opened: a signed moment in forms that strangers may send, which a person takes longer to fill in than a program.

It keeps out programs that send a form without opening it, or as fast as they can. Nothing that was typed is lost: a refused
form is shown again, and its button works.
"""

import hmac
from datetime import UTC, datetime, timedelta
from typing import Final

from flask import request

from pbem.domain.errors import BadInput
from pbem.i18n.speech import gettext as _
from pbem.tokens import Key
from pbem.web.site import server

FIELD: Final = "opened"
"""The hidden field of the forms."""

QUICKEST: Final = timedelta(seconds=2)
"""Nobody reads a form and types an address in less."""

LONGEST: Final = timedelta(days=1)

_LONGEST_TEXT: Final = 100
_MILLISECOND: Final = timedelta(milliseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def text() -> str:
    """The text of the field. A form that is shown again has that of the first time, so nobody waits twice.

    If the clock was set back meanwhile, that time has yet to come.
    """
    earlier, now = request.form.get(FIELD, ""), server().now()
    opened = _moment(earlier)
    if opened is None or opened > now:
        return _signed(now)
    return earlier if now - opened <= LONGEST else _signed(now - QUICKEST)


def check() -> None:
    """Refuse a form that was filled in too fast, or was not opened within a day. Raises BadInput."""
    opened = _moment(request.form.get(FIELD, ""))
    again = _("Nothing was sent, and what you typed is still here. Press the button again.")
    if opened is None or server().now() - opened > LONGEST:
        raise BadInput(_("This form was open for too long."), why=_("A form can be sent for a day."), remedy=again)
    if server().now() - opened < QUICKEST:
        raise BadInput(_("That was faster than anyone types."), why=_("Only programs are that fast."), remedy=again)


def _signed(moment: datetime) -> str:
    number = f"{(moment - _EPOCH) // _MILLISECOND:x}"
    return f"{number}-{_mac(server().keys.keys[0], number)}"


def _moment(signed: str) -> datetime | None:
    """The moment in a field; None if this server did not put it there."""
    number, _dash, mac = signed.partition("-")
    known = len(signed) <= _LONGEST_TEXT and signed.isascii()
    if not known or not any(hmac.compare_digest(mac, _mac(key, number)) for key in server().keys.keys):
        return None
    return _EPOCH + int(number, 16) * _MILLISECOND


def _mac(key: Key, number: str) -> str:
    return hmac.digest(key.subkey("form"), number.encode(), "sha256").hex()[:32]

"""Guarding every request: refusing what is too large, unreadable or forged (see `csrf`), and setting the headers of answers.

Pages load nothing but the site's own style sheet and pictures, run no script but a few of the site's own, and cannot be
framed. Pages behind a token are kept by no cache and no search engine.
"""

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote_to_bytes

from flask import Flask, Response, g, request

from pbem.config.settings import Config
from pbem.domain.errors import BadInput
from pbem.i18n.speech import gettext as _
from pbem.service.archive import verify_upload
from pbem.web import csrf

POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; manifest-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)

POLICY_WITH_SCRIPT: Final = f"{POLICY}; script-src 'self'"
"""Scripts from this site, and none within a page."""

POLICY_OF_LIVE_PAGES: Final = f"{POLICY_WITH_SCRIPT}; connect-src 'self'"
"""For pages whose script asks for news."""

HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    # With no-referrer, browsers would send the origin of the site's own forms as null.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "interest-cohort=(), browsing-topics=()",
}

_NO_STORE: Final = {"Cache-Control": "no-store"}

PRIVATE: Final = _NO_STORE | {"X-Robots-Tag": "noindex, nofollow"}

PUBLIC: Final = frozenset({"front.show", "rules.of_game", "handbook.contents", "handbook.show"})
"""Pages that search engines may show. They are the same for everyone, and stay."""

MOST_FIELDS: Final = 200
"""The largest real form has a few dozen fields."""

UPLOAD: Final = "verify.check"
"""The only form with a file, so the only one that has parts and may be long."""

MOST_UPLOADED: Final = verify_upload.MOST_BYTES + 2**16
"""A file, and the rest of the form around it."""

MOST_PARTS: Final = 50
"""The form for a game file has two; the one-click form of email programs has one or two."""

LONGEST_PART_HEADER: Final = 2000
"""Bytes of headers before a file: its name, which has at most 255 letters, and its type."""

RETRY_AFTER: Final = "30"
"""Seconds until a program should ask again while the database is away: a standby takes over in less."""

_BLANK_LINE: Final = re.compile(rb"\r\n\r\n|\r\r|\n\n")
_FILES: Final = "multipart/form-data"
_FORM: Final = "application/x-www-form-urlencoded"
_ONLY_HTTPS: Final = {"Strict-Transport-Security": f"max-age={365 * 24 * 60 * 60}"}


def guard(app: Flask, config: Config) -> None:
    """Guard every request to an application with these settings."""
    app.before_request(_check_request)
    app.after_request(_header_setter(config))


def _check_request() -> None:
    """Refuse a request that is unreadable, too large, no form, or plainly sent by a script."""
    environ = request.environ
    path, query = environ.get("PATH_INFO", "").encode("latin-1"), unquote_to_bytes(request.query_string)
    if why := _unreadable(path) or _unreadable(query):
        raise BadInput(_("The address can't be read."), why=why)
    if environ["REQUEST_METHOD"] in ("GET", "HEAD", "OPTIONS") or path.startswith(b"/api/"):
        return
    endpoint = request.endpoint
    if endpoint == "inbound.take":
        # An email and not a form. Its view reads it, and knows how large one may be.
        return
    csrf.refuse_scripts()
    is_upload = (endpoint, request.mimetype) == (UPLOAD, _FILES)
    if is_upload:
        request.max_content_length = request.max_form_memory_size = MOST_UPLOADED
    # Reading the body raises an error where it is too large.
    body = request.get_data(cache=True)
    if body and request.mimetype == _FORM:
        if why := _unreadable(unquote_to_bytes(body)):
            raise BadInput(_("The form can't be read."), why=why)
        if body.count(b"&") >= MOST_FIELDS:
            raise BadInput(
                _("The form has too many fields."),
                why=_("Our forms have at most %(most_fields)s.", most_fields=MOST_FIELDS),
            )
    elif is_upload:
        _check_upload(body)
    elif body and endpoint != csrf.UNSUBSCRIBE:
        raise BadInput(_("This isn't one of our forms."), why=_("Our pages send %(form)s.", form=_FORM))
    csrf.refuse_other_sites()


def _check_upload(body: bytes) -> None:
    """Refuse more parts than a form has, or more headers of one than a browser writes: the library takes long to read them."""
    boundary = request.mimetype_params.get("boundary", "")
    before, *parts = body.split(f"--{boundary}".encode(), MOST_PARTS + 1)
    headed = all(part.startswith(b"--") or _BLANK_LINE.search(part, 0, LONGEST_PART_HEADER) for part in parts)
    if before or len(parts) > MOST_PARTS or not headed:
        raise BadInput(_("The form can't be read."), why=_("Browsers don't add that much to a file."))


def _unreadable(data: bytes) -> str:
    """Why these bytes are not text; empty if they are."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return _("It isn't in UTF-8.")
    return _("It contains an invalid character.") if "\0" in text else ""


def _header_setter(config: Config) -> Callable[[Response], Response]:
    """Return the function that sets the headers of each answer of an application with these settings."""
    always = HEADERS | (_ONLY_HTTPS if config.base_url.startswith("https:") else {})
    static, private, public = (tuple((always | more).items()) for more in ({}, PRIVATE, _NO_STORE))
    names = {name.lower() for name, _ in private}

    def set_headers(response: Response) -> Response:
        endpoint, headers = request.endpoint, response.headers
        if endpoint == "static":
            defaults = static
        else:
            defaults = public if endpoint in PUBLIC and response.status_code == 200 else private
        # A header that the view has set is kept.
        present = {name.lower() for name, _ in headers}
        if not present.isdisjoint(names):
            defaults = tuple(each for each in defaults if each[0].lower() not in present)
        headers.extend(defaults)
        if response.status_code >= 400 and (back := g.get("back_to")):
            headers["Refresh"] = f"1; url={back}"
        if response.status_code == 503:
            headers["Retry-After"] = RETRY_AFTER
        return response

    return set_headers

"""A person's account: sign-ins, stored data, another address, muted players, and deleting the account."""

from flask import Blueprint, Response

from pbem.domain.errors import Refusal
from pbem.i18n.speech import gettext as _
from pbem.service.account import change_address as address_change, delete, my_page as account, personal_data, profiles
from pbem.service.outgoing import new_links
from pbem.service.people import blocks, friends, sessions
from pbem.store import blocks as block_rows, friends as friend_rows
from pbem.web import client, site
from pbem.web.people import my_page, session_cookie
from pbem.web.people.my_page import person_id
from pbem.web.people.session_cookie import Cookie
from pbem.web.site import field, row, server, ticked

pages = Blueprint("account", __name__, url_prefix="/my")
pages.before_request(my_page.must_be_signed_in)
pages.after_request(my_page.allow_script)


@pages.get("/account")
def show(refused: Refusal | None = None) -> Response:
    here = my_page.session()
    found = server().read(account.account, here.holder, person_id())
    return site.page("own/account.html", here=here, found=found, given=field, refused=refused)


@pages.post("/sessions")
@site.shows_refusals_on(show)
def end_session() -> Response:
    """Sign out another browser; or all others, which ends everything else that is outstanding too."""
    here = my_page.session()
    if field("others"):
        server().run(new_links.send, person_id(), here.id)
        return site.go("account.show", done="others signed out")
    since = {each.id: each.made_at for each in server().read(sessions.open_sessions, here.holder)}
    server().run(sessions.end, here.holder, row("session", _("a sign-in number"), since.get))
    return site.go("account.show", done="signed out")


@pages.post("/out")
def sign_out() -> Response:
    here = my_page.session()
    server().run(sessions.end, here.holder, here.id)
    return session_cookie.delete_from(site.go("front.show", done="here signed out"), Cookie.PERSON)


@pages.get("/data.json")
def download_data() -> Response:
    """Everything stored about a person, as a file."""
    response = Response(personal_data.export_person(server(), person_id()), mimetype="application/json")
    response.headers["Content-Disposition"] = 'attachment; filename="my-data.json"'
    return response


@pages.post("/address")
@site.shows_refusals_on(show, about="address")
def change_address() -> Response:
    """Ask for another address. It takes effect once it is confirmed by the email that goes there."""
    server().run(address_change.ask, person_id(), field("address"), client.network())
    return site.go("front.sent")


@pages.post("/profile")
@site.shows_refusals_on(show, about="called")
def choose_profile() -> Response:
    """Choose who may see one's profile, and what it says."""
    audience = field("audience")
    server().run(profiles.choose, person_id(), audience, field("called"), punctual=ticked("punctual"))
    return site.go("account.show", done="profile" if audience else "no profile")


@pages.post("/blocks")
def unblock() -> Response:
    since = {each.blocked_id: each.since for each in server().query(block_rows.blocked_by, person_id())}
    server().run(blocks.unblock, person_id(), row("person", _("a person number"), since.get))
    return site.go("account.show", done="unmuted")


@pages.post("/friends")
def remove_friend() -> Response:
    since = {each.friend_id: each.since for each in server().query(friend_rows.of_person, person_id())}
    server().run(friends.remove, person_id(), row("person", _("a person number"), since.get))
    return site.go("account.show", done="friend removed")


@pages.post("/leave")
@site.shows_refusals_on(show)
def delete_account() -> Response:
    """Ask for the account to be deleted. It is, once that is confirmed by an email."""
    server().run(delete.ask, person_id())
    return site.go("front.sent")

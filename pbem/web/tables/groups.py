"""The pages of groups, for members who are signed in: a list, a page for each group, and the form for a new table of one.

The address of a group's page is a secret of its members, and the page opens for nobody else.
"""

from flask import Blueprint, Response, url_for

from engine import registry
from pbem.domain.errors import Refusal
from pbem.domain.rating_words import rating_text
from pbem.i18n.speech import gettext as _
from pbem.service.play.rules import title_of
from pbem.service.tables import group_page, groups
from pbem.service.tournaments import reading
from pbem.web import client, site
from pbem.web.people import my_page
from pbem.web.people.my_page import person_id
from pbem.web.public.rules import game_called
from pbem.web.site import field, row, server
from pbem.web.tables import new
from pbem.web.tables.invitations import addresses_in
from pbem.web.tables.joining import table_values

pages = Blueprint("groups", __name__, url_prefix="/groups")

pages.before_request(my_page.must_be_signed_in)
pages.after_request(my_page.allow_script)


@pages.get("")
def show_all(refused: Refusal | None = None) -> Response:
    """The groups of the person who is signed in, and a form for another one."""
    found = server().read(groups.of_person, person_id())
    return site.page("groups.html", found=found, given=field, refused=refused)


@pages.post("")
@site.shows_refusals_on(show_all, about="name")
def create() -> Response:
    """Make a group."""
    return site.go("groups.show", key=server().run(groups.create, person_id(), field("name")))


@pages.get("/<key>")
def show(key: str, refused: Refusal | None = None) -> Response:
    """A group: its tables, members and ratings, and what its organiser can do."""
    found = server().read(group_page.group_page, person_id(), key)
    return site.page(
        "group.html",
        found=found,
        lists=[
            [(table_values(each.summary), each.winners) for each in tables]
            for tables in (found.waiting, found.playing, found.over)
        ],
        tournaments=server().read(reading.of_group, found.membership),
        kinds={name: title_of(name) for name in registry.names()},
        rating_text=rating_text,
        given=field,
        refused=refused,
    )


@pages.post("/<key>/invite")
@site.shows_refusals_on(show, about="invited")
def invite(key: str) -> Response:
    """Invite people by their addresses, or withdraw all open invitations."""
    if field("withdraw"):
        server().run(groups.withdraw_invitations, person_id(), key)
        return site.go("groups.show", key=key, done="withdrawn")
    server().run(groups.invite, person_id(), key, addresses_in(field("invited")), client.network())
    return site.go("groups.show", key=key, done="invited")


@pages.post("/<key>/members")
@site.shows_refusals_on(show)
def change_member(key: str) -> Response:
    """Remove a member, or make one the organiser."""
    act = groups.hand_over if field("act") == "hand over" else groups.remove
    since = {each.person_id: each.since for each in server().query(groups.membership, person_id(), key).members}
    server().run(act, person_id(), key, row("person", _("a member number"), since.get))
    return site.go("groups.show", key=key)


@pages.post("/<key>/leave")
def leave(key: str) -> Response:
    """Leave the group."""
    server().run(groups.leave, person_id(), key)
    return site.go("groups.show_all", done="left group")


@pages.post("/<key>/join")
@site.shows_refusals_on(show)
def join(key: str) -> Response:
    """Lead a member to a table of the group that waits for players."""
    token = server().run(group_page.table_token, person_id(), key, row("game", _("a table number")))
    return site.go("invitation.show", token=token)


@pages.get("/<key>/new/<kind>")
def show_new(key: str, kind: str, refused: Refusal | None = None) -> Response:
    """The form for a table of the group."""
    group = server().read(group_page.name_of, person_id(), key)
    return new.form(kind, url_for(".open_table", key=key, kind=kind), refused, group)


@pages.post("/<key>/new/<kind>")
@site.shows_refusals_on(show_new)
def open_table(key: str, kind: str) -> Response:
    """Open a table of the group, and lead its host to it."""
    settings = new.settings_of(game_called(kind))
    return site.go("invitation.show", token=server().run(group_page.open_table, person_id(), key, settings))

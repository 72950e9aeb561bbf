"""What somebody may ask an organiser for about themselves: a copy of what is known of them, and that it is deleted."""

import re
from dataclasses import dataclass

from pbem.domain.acts import Act
from pbem.domain.deleted_people import is_former
from pbem.domain.errors import BadInput, Forbidden, Gone
from pbem.domain.user_text import isolate
from pbem.i18n.speech import gettext as _
from pbem.service.account import delete
from pbem.service.desk.acts.perform import Doing, Done, OnPerson
from pbem.store import outbox, people
from pbem.store import tables as table_rows
from pbem.store.people import PersonRow


@dataclass(frozen=True)
class SendExport(OnPerson):
    """Mail somebody a link to their own page, where they find everything that is known of them as a file.

    It goes to their address and to nobody else: what they hold and have sealed at their tables stands in it.
    """

    act = Act.EXPORT
    person_id: int

    def do(self, doing: Doing) -> Done:
        _known(doing, self.person_id)
        now = doing.server.now()
        outbox.queue(doing.tx, [outbox.NewEmail(self.person_id, "links", facts={"reason": doing.reason})], now, now)
        return Done((_("They get a mail with a link to their own page. The file is there, and only they see it."),))


@dataclass(frozen=True)
class Delete(OnPerson):
    """Delete what is written down of a person. Their seats are given away as by resigning; the games stay."""

    act = Act.DELETE
    person_id: int

    def do(self, doing: Doing) -> Done:
        person = _known(doing, self.person_id)
        self._must_be_unnamed(doing, person.name)
        self._must_sit_at_no_stopped_table(doing)
        tables = delete.delete_person(doing.tx, doing.server, self.person_id, doing.reason)
        titles = table_rows.titles(doing.tx, tables)
        called = [_("“%(title)s” (table %(number)s)", title=isolate(titles[each]), number=each) for each in tables]
        says = (
            _("It is about %(who)s.", who=isolate(person.name or person.address)),
            _("Tables that they leave: %(tables)s.", tables=", ".join(called) or _("none")),
            _("Where they have played they are “a former player” from now on."),
            _("The record of each game that they leave says so, with your reason."),
            _("Their address, their name and the text of mails to them are gone for good. No mail tells them."),
        )
        return Done(says, tables=tuple(tables))

    def _must_sit_at_no_stopped_table(self, doing: Doing) -> None:
        stopped = table_rows.of_person(doing.tx, self.person_id, ("frozen",))
        if stopped:
            called = [_("“%(title)s” (table %(number)s)", title=isolate(row.title), number=row.id) for row in stopped]
            raise Forbidden(
                _("They sit at a table that has been stopped: %(tables)s.", tables=", ".join(called)),
                why=_("Their seat there would be given away, and nothing is changed until its record was looked at."),
                remedy=_("Nothing was changed; let the table go on, or close it, and delete them then."),
            )

    def _must_be_unnamed(self, doing: Doing, name: str) -> None:
        """The reason stays in records that nobody can change, so what is to be forgotten must not stand in it."""
        for called in {name, *table_rows.names_of(doing.tx, self.person_id)} - {""}:
            if re.search(rf"(?<!\w){re.escape(called)}(?!\w)", doing.reason, re.IGNORECASE):
                raise BadInput(
                    _("Their name stands in your reason."),
                    why=_("What is written about moderation is kept for ever, and their name is to be forgotten."),
                    remedy=_("Nothing was changed; please give the reason without it."),
                )


def _known(doing: Doing, person_id: int) -> PersonRow:
    person = people.read(doing.tx, person_id)
    if is_former(person.address):
        raise Gone(_("This person has left for good."), remedy=_("Nothing was changed."))
    return person

"""Acts a person may ask for about themselves: an export of their data, and its deletion."""

import re
from dataclasses import dataclass

from pbem.domain.acts import Act
from pbem.domain.deleted_people import is_former
from pbem.domain.errors import BadInput, Forbidden, Gone
from pbem.domain.states import EmailKind, TableStatus
from pbem.domain.user_text import isolate
from pbem.i18n.speech import gettext as _
from pbem.service.account import delete
from pbem.service.desk.acts.perform import ActResult, Context, PersonAct
from pbem.store import outbox, people, tables as table_rows
from pbem.store.people import PersonRow


@dataclass(frozen=True)
class SendExport(PersonAct):
    """Email a person a link to their own page, where they can download all data about them.

    Only their own address gets it, because the file shows what they hold and have sealed at their tables.
    """

    kind = Act.EXPORT
    person_id: int

    def do(self, context: Context) -> ActResult:
        _known(context, self.person_id)
        now = context.server.now()
        outbox.queue(
            context.tx, [outbox.NewEmail(self.person_id, EmailKind.LINKS, facts={"reason": context.reason})], now, now
        )
        return ActResult(
            (_("They get a mail with a link to their own page. The file is there, and only they see it."),)
        )


@dataclass(frozen=True)
class Delete(PersonAct):
    """Delete a person's data. Their seats become free as after resigning; the games stay."""

    kind = Act.DELETE
    person_id: int

    def do(self, context: Context) -> ActResult:
        person = _known(context, self.person_id)
        self._must_be_unnamed(context, person.name)
        self._must_sit_at_no_stopped_table(context)
        tables = delete.delete_person(context.tx, context.server, self.person_id, context.reason)
        titles = table_rows.titles(context.tx, tables)
        called = [_("“%(title)s” (table %(number)s)", title=isolate(titles[each]), number=each) for each in tables]
        says = (
            _("It is about %(who)s.", who=isolate(person.name or person.address)),
            _("Tables that they leave: %(tables)s.", tables=", ".join(called) or _("none")),
            _("Where they have played they are “a former player” from now on."),
            _("The record of each game that they leave says so, with your reason."),
            _("Their address, their name and the text of mails to them are gone for good. No mail tells them."),
        )
        return ActResult(says, tables=tuple(tables))

    def _must_sit_at_no_stopped_table(self, context: Context) -> None:
        stopped = table_rows.of_person(context.tx, self.person_id, (TableStatus.FROZEN,))
        if stopped:
            called = [_("“%(title)s” (table %(number)s)", title=isolate(row.title), number=row.id) for row in stopped]
            raise Forbidden(
                _("They sit at a table that has been stopped: %(tables)s.", tables=", ".join(called)),
                why=_("Their seat there would be given away, and nothing is changed until its record was looked at."),
                remedy=_("Nothing was changed; let the table go on, or close it, and delete them then."),
            )

    def _must_be_unnamed(self, context: Context, name: str) -> None:
        """Refuse a reason with the person's name in it: reasons are kept for ever, the name must not be."""
        for called in {name, *table_rows.names_of(context.tx, self.person_id)} - {""}:
            if re.search(rf"(?<!\w){re.escape(called)}(?!\w)", context.reason, re.IGNORECASE):
                raise BadInput(
                    _("Their name stands in your reason."),
                    why=_("What is written about moderation is kept for ever, and their name is to be forgotten."),
                    remedy=_("Nothing was changed; please give the reason without it."),
                )


def _known(context: Context, person_id: int) -> PersonRow:
    person = people.read(context.tx, person_id)
    if is_former(person.address):
        raise Gone(_("This person has left for good."), remedy=_("Nothing was changed."))
    return person

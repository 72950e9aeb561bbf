"""What a page says first after a form: that it was done.

The redirect after the form names one of our sentences. Any other link can name one as well, so none may ask for anything.
"""

from collections.abc import Mapping
from typing import Final

from flask import request

from pbem.i18n.speech import gettext, mark

FIELD: Final = "done"
"""The field of the query that names what was done."""

SENTENCES: Final[Mapping[str, str]] = {
    "agreed to go back": mark("You've agreed to go back."),
    "agreed to end": mark("You've agreed to end the game without a result."),
    "answered": mark("Answer sent."),
    "browser": mark("We've sent a test notification. When it arrives, notifications are on."),
    "channel": mark("We've sent a code to the channel. Enter it below."),
    "channel proved": mark("This channel is on."),
    "channel removed": mark("Channel removed."),
    "codes on": mark("Two-step sign-in is on."),
    "codes off": mark("Two-step sign-in is off."),
    "delivery": mark("Email settings saved."),
    "dismissed": mark("Message dismissed."),
    "feeds": mark("Your new addresses are below."),
    "friend added": mark("Friend added."),
    "friend removed": mark("Friend removed."),
    "gave time": mark("They have one more day for this turn."),
    "gone back": mark("Everyone agreed, so the game has gone back."),
    "here signed out": mark("You're signed out."),
    "invited": mark("Invitations sent."),
    "left group": mark("You've left the group."),
    "left": mark("You've left the table."),
    "left tournament": mark("You're not in this tournament."),
    "muted": mark("Muted. You won't see their messages."),
    "no profile": mark("Nobody can see your profile."),
    "notes": mark("Notes saved."),
    "order dropped": mark("Standing order dropped."),
    "order moved": mark("Standing order moved."),
    "order set": mark("Standing order set."),
    "others signed out": mark("All other browsers are signed out."),
    "passphrase": mark("Passphrase changed."),
    "playing on": mark("You'd like to play on."),
    "profile": mark("Profile saved. Its address is below."),
    "proposed to go back": mark("We've asked the others whether to go back."),
    "reply": mark("Reply sent."),
    "resent": mark("We'll send that email again."),
    "review not shared": mark("Your review is private again."),
    "review shared": mark("Your review is shared with this table."),
    "settings": mark("Settings saved."),
    "signed out": mark("That browser is signed out."),
    "taken back": mark("Undone. You can choose again."),
    "signed up": mark("You've signed up."),
    "talk": mark("Message sent."),
    "tournament changed": mark("Done. Everyone concerned gets an email."),
    "tournament opened": mark("Your tournament is open for sign-up."),
    "unmuted": mark("Unmuted."),
    "vacation": mark("Vacation booked."),
    "vacation cancelled": mark("Vacation cancelled."),
    "week": mark("Time off saved. It counts from your next turn."),
    "withdrawn": mark("Invitations withdrawn."),
    "zone": mark("Time zone saved."),
}
"""What can have been done, and how a page says so."""


def query(done: str) -> dict[str, str]:
    """The field of the query for what was done; none for nothing. Raises KeyError for what has no sentence."""
    return {FIELD: done} if done and SENTENCES[done] else {}


def confirmation() -> str:
    """The sentence for what was done before this page; empty without one."""
    sentence = SENTENCES.get(request.args.get(FIELD, ""))
    return "" if sentence is None or request.method != "GET" else gettext(sentence)

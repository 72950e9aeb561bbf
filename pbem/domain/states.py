"""States and kinds: every word that a column `status` or `kind` may hold."""

from enum import StrEnum


class TableStatus(StrEnum):
    """What state a table is in."""

    PLANNED = "planned"
    OPEN = "open"
    PLAYING = "playing"
    OVER = "over"
    VOID = "void"
    CLOSED = "closed"
    EXPIRED = "expired"
    FROZEN = "frozen"


class TournamentStatus(StrEnum):
    """What state a tournament is in."""

    OPEN = "open"
    PLAYING = "playing"
    OVER = "over"
    CALLED_OFF = "called off"


class EntrantStatus(StrEnum):
    """What state an entrant of a tournament is in."""

    IN = "in"
    WAITING = "waiting"
    LEFT = "left"
    REMOVED = "removed"
    ABSENT = "absent"


class TurnStatus(StrEnum):
    """What became of one seat's turn."""

    OPEN = "open"
    CLOSED = "closed"
    MISSED = "missed"
    REWOUND = "rewound"


class EmailStatus(StrEnum):
    """How far an email is on its way."""

    QUEUED = "queued"
    DIGEST = "digest"
    SENT = "sent"
    WITHHELD = "withheld"
    SUPERSEDED = "superseded"
    PARKED = "parked"
    UNDELIVERABLE = "undeliverable"


class ReceivedStatus(StrEnum):
    """How far a received email has been dealt with."""

    WAITING = "waiting"
    DOUBTED = "doubted"
    DONE = "done"
    PARKED = "parked"


class InvitationStatus(StrEnum):
    """What came of an invitation."""

    OPEN = "open"
    ACCEPTED = "accepted"
    DECLINED = "declined"


class OfferStatus(StrEnum):
    """What came of a seat on offer."""

    OPEN = "open"
    TAKEN = "taken"
    BACK = "back"
    OVER = "over"


class Insight(StrEnum):
    """How someone who does not sit at a table came to know its hidden side."""

    SAT = "sat"
    LOOKED = "looked"


class GroupRole(StrEnum):
    """What someone is in a group, from the most to the least."""

    ORGANISER = "organiser"
    MEMBER = "member"
    INVITED = "invited"


class CallStatus(StrEnum):
    """Whether a call waits for an answer."""

    OPEN = "open"
    CLOSED = "closed"


class Doubt(StrEnum):
    """Why a reply is not carried out before its player has said that it is theirs; the email that asks has a sentence for each."""

    ANOTHER_SENDER = "another sender"
    UNVOUCHED = "an unconfirmed sender"
    REPLAYED = "sent before"
    ALTERED = "unusual headers"
    ELSEWHERE = "written to someone else"
    REVOKED = "its address was replaced since"
    UNCLEAR = "unclear strike-through"


class ResultKind(StrEnum):
    """What a row of results says: a rated game ended, its result was corrected, or two players are one."""

    ENDED = "ended"
    CORRECTED = "corrected"
    MERGED = "merged"


class Audience(StrEnum):
    """Who may see a person's profile, where they have one."""

    MET = "met"
    EVERYONE = "everyone"


class JobStatus(StrEnum):
    """How far a job of the desk has come."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"


class EmailKind(StrEnum):
    """What an email is about: the folder of its templates."""

    ALERT = "alert"
    ANNOUNCEMENT = "announcement"
    AUTO_PASSED = "auto_passed"
    BACK_PROPOSED = "back_proposed"
    BANNED = "banned"
    CALL_ANSWERED = "call_answered"
    CHANNEL = "channel"
    CLOSED = "closed"
    CONFIRM = "confirm"
    DECLINED = "declined"
    DELETION = "deletion"
    DIGEST = "digest"
    END_PROPOSED = "end_proposed"
    EXPIRED = "expired"
    GROUP_INVITATION = "group_invitation"
    HOST = "host"
    INVITATION = "invitation"
    INVITATION_RECEIPT = "invitation_receipt"
    JOINED = "joined"
    LEFT = "left"
    LINKS = "links"
    MENTION = "mention"
    MERGED = "merged"
    MOVED = "moved"
    NEW_ADDRESS = "new_address"
    NOTICE = "notice"
    RECEIPT = "receipt"
    REMINDER = "reminder"
    RESIGNED = "resigned"
    RESULT = "result"
    REVIEW = "review"
    SEALED = "sealed"
    SEATED = "seated"
    SIGN_UP = "sign_up"
    SUBSTITUTE = "substitute"
    TOURNAMENT = "tournament"
    TRIAL = "trial"
    TURN = "turn"
    VOIDED = "voided"
    WAS_IT_YOU = "was_it_you"
    WELCOME = "welcome"

"""The tables of the server.

Bodies of the log, states, boxes and orders are canonical JSON kept as text, never as a database's own JSON type: hashes
need the very bytes. Every moment is in UTC. A constraint has a name, so that a migration can speak of it on both
databases. What one game owns leads its key with the game, so that its rows lie together.

This package must never hold a query.
"""

from pbem.store.schema.base import METADATA
from pbem.store.schema.desk import (
    AUDIT,
    AUDIT_HEAD,
    FLAW,
    JOB,
    SEARCH_WORD,
    TALLY,
    TASK_PROGRESS,
    AuditRow,
    FlawRow,
    JobRow,
)
from pbem.store.schema.groups import GROUP_MEMBERS, GROUP_TABLES, GROUPS, GroupMemberRow, GroupRow, GroupTableRow
from pbem.store.schema.mail import (
    ALARM,
    DOMAIN_TRAFFIC,
    KNOWN_KEY,
    LEASE,
    LEDGER,
    LINK,
    MAIL_SERVER,
    OUTBOX,
    QUOTA,
    RECEIVED,
    RECEIVED_COUNT,
    AlarmRow,
    EmailRow,
    LeaseRow,
    LineRow,
    LinkRow,
    MailServerRow,
    ReceivedRow,
)
from pbem.store.schema.people import (
    ALIAS,
    BAN,
    BLOCK,
    BOUNCE,
    CHANNEL,
    FRIEND,
    LINK_REQUEST,
    NOTE,
    ORGANISER,
    PERSON,
    PREFERENCE,
    PROFILE,
    SESSION,
    UNREACHABLE,
    VACATION,
    VOLUNTEER,
    BanRow,
    BlockRow,
    ChannelRow,
    FriendRow,
    LinkRequestRow,
    OrganiserRow,
    PersonRow,
    ProfileRow,
    SessionRow,
    UnreachableRow,
    VacationRow,
)
from pbem.store.schema.ratings import RATING, RESULT, RatingRow, ResultRow
from pbem.store.schema.statistics import (
    FINISHED_GAME,
    FINISHED_SEAT,
    GAME_SUM,
    FinishedGameRow,
    FinishedSeatRow,
    GameSumRow,
)
from pbem.store.schema.tables import (
    BACK_VOTE,
    CALL,
    FORMER_PLAYER,
    GAME,
    HAS_NO_RESULT,
    INSIDER,
    INVITATION,
    IS_NOT_COUNTED,
    JOIN_REQUEST,
    LOG,
    OFFER,
    PLAYER,
    RECORDING,
    REVIEW,
    TALK,
    VIEW,
    VOTE,
    CallRow,
    FormerPlayerRow,
    GameRow,
    InvitationRow,
    JoinRequestRow,
    OfferRow,
    PlayerRow,
    RecordingRow,
    ReviewRow,
    ViewRow,
)
from pbem.store.schema.time import (
    CLOCK_STEP,
    DEADLINE,
    HEARTBEAT,
    OUTAGE,
    PAUSE,
    TASK_RUN,
    DeadlineRow,
    HeartbeatRow,
    OutageRow,
)
from pbem.store.schema.tournaments import (
    ENTRANT,
    ROUND_TABLE,
    SIGN_UP,
    TOURNAMENT,
    EntrantRow,
    RoundTableRow,
    SignUpRow,
    TournamentRow,
)

"""First tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audit_head",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("head", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_head")),
    )
    op.create_table(
        "clock_step",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seconds", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_clock_step")),
    )
    op.create_table(
        "domain_traffic",
        sa.Column("day", sa.Date(), autoincrement=False, nullable=False),
        sa.Column("domain", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("sent", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("deferred", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("bounced", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("complained", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.PrimaryKeyConstraint("day", "domain", name=op.f("pk_domain_traffic")),
    )
    op.create_table(
        "dump",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("size", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_dump")),
    )
    op.create_table(
        "dump_part",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("start", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("number", "start", name=op.f("pk_dump_part")),
    )
    op.create_table(
        "game_sum",
        sa.Column("kind", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("what", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("value", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("count", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.PrimaryKeyConstraint("kind", "what", "value", name=op.f("pk_game_sum")),
    )
    op.create_table(
        "groups",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_groups")),
        sa.UniqueConstraint("key", name=op.f("uq_groups_key")),
    )
    op.create_table(
        "heartbeat",
        sa.Column("worker", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("beat_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("worker", name=op.f("pk_heartbeat")),
    )
    op.create_table(
        "job",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("last_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("total", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("done", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("failed", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("failures", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("status IN ('running', 'done', 'stopped')", name=op.f("ck_job_status")),
        sa.CheckConstraint("what IN ('pause', 'resume', 'extend', 'announce', 'resend')", name=op.f("ck_job_what")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
        sa.UniqueConstraint("key", name=op.f("uq_job_key")),
    )
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_job_status_id"), ["status", "id"], unique=False)

    op.create_table(
        "known_key",
        sa.Column("fingerprint", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("used_since", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("fingerprint", name=op.f("pk_known_key")),
    )
    op.create_table(
        "lease",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lease")),
    )
    op.create_table(
        "link_request",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("mailbox", sa.Text(), nullable=False),
        sa.Column("quota", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_link_request")),
    )
    op.create_table(
        "mail_server",
        sa.Column("authserv_id", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("received_above", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("measured_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("authserv_id", name=op.f("pk_mail_server")),
    )
    op.create_table(
        "outage",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("end_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("email_paused", sa.Boolean(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("applied_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outage")),
        sa.UniqueConstraint("start_at", name=op.f("uq_outage_start_at")),
    )
    with op.batch_alter_table("outage", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_outage_end_at"), ["end_at"], unique=False)

    op.create_table(
        "person",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("mailbox", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("zone", sa.Text(), nullable=False),
        sa.Column("zone_chosen", sa.Boolean(), nullable=False),
        sa.Column("quiet", sa.Text(), nullable=True),
        sa.Column("week", sa.Text(), nullable=True),
        sa.Column("cadence", sa.Text(), nullable=False),
        sa.Column("delivery", sa.Text(), nullable=False),
        sa.Column("topics", sa.Text(), nullable=False),
        sa.Column("digest_at", sa.Text(), nullable=False),
        sa.Column("digest_on", sa.Date(), nullable=True),
        sa.Column("sealed", sa.Boolean(), nullable=False),
        sa.Column("reviews", sa.Boolean(), nullable=False),
        sa.Column("show_ratings", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_person")),
        sa.UniqueConstraint("key", name=op.f("uq_person_key")),
        sa.UniqueConstraint("mailbox", name=op.f("uq_person_mailbox")),
    )
    with op.batch_alter_table("person", schema=None) as batch_op:
        batch_op.create_index(
            "ix_person_digest",
            ["delivery"],
            unique=False,
            sqlite_where=sa.text("delivery = 'daily'"),
            postgresql_where=sa.text("delivery = 'daily'"),
        )

    op.create_table(
        "quota",
        sa.Column("bucket", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("used_until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("bucket", name=op.f("pk_quota")),
    )
    op.create_table(
        "rating",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("player", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("mu_before", sa.Double(), nullable=False),
        sa.Column("sigma_before", sa.Double(), nullable=False),
        sa.Column("mu", sa.Double(), nullable=False),
        sa.Column("sigma", sa.Double(), nullable=False),
        sa.Column("games", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.PrimaryKeyConstraint("seq", "player", "kind", name=op.f("pk_rating")),
    )
    with op.batch_alter_table("rating", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_rating_player_kind_seq"), ["player", "kind", "seq"], unique=False)

    op.create_table(
        "received_count",
        sa.Column("day", sa.Date(), autoincrement=False, nullable=False),
        sa.Column("what", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("count", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.PrimaryKeyConstraint("day", "what", name=op.f("pk_received_count")),
    )
    op.create_table(
        "search_word",
        sa.Column("about", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("word", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column(
            "subject_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.CheckConstraint("about IN ('table', 'person')", name=op.f("ck_search_word_about")),
        sa.PrimaryKeyConstraint("about", "word", "subject_id", name=op.f("pk_search_word")),
    )
    with op.batch_alter_table("search_word", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_search_word_about_subject_id_word"), ["about", "subject_id", "word"], unique=False
        )

    op.create_table(
        "tally",
        sa.Column("day", sa.Date(), autoincrement=False, nullable=False),
        sa.Column("hour", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("count", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.PrimaryKeyConstraint("day", "hour", "kind", name=op.f("pk_tally")),
    )
    op.create_table(
        "task_progress",
        sa.Column("task", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("last_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.PrimaryKeyConstraint("task", name=op.f("pk_task_progress")),
    )
    op.create_table(
        "task_run",
        sa.Column("task", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("period", sa.Text(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("task", "period", name=op.f("pk_task_run")),
    )
    op.create_table(
        "web_server",
        sa.Column("name", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("beat_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_web_server")),
    )
    op.create_table(
        "alias",
        sa.Column(
            "person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("identity", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_alias_person_id")),
        sa.PrimaryKeyConstraint("person_id", name=op.f("pk_alias")),
    )
    with op.batch_alter_table("alias", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_alias_identity"), ["identity"], unique=False)

    op.create_table(
        "ban",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("lifted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_ban_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ban")),
    )
    with op.batch_alter_table("ban", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_ban_person_id"), ["person_id"], unique=False)

    op.create_table(
        "block",
        sa.Column(
            "person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column(
            "blocked_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["blocked_id"], ["person.id"], name=op.f("fk_block_blocked_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_block_person_id")),
        sa.PrimaryKeyConstraint("person_id", "blocked_id", name=op.f("pk_block")),
    )
    with op.batch_alter_table("block", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_block_blocked_id"), ["blocked_id"], unique=False)

    op.create_table(
        "bounce",
        sa.Column(
            "person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("day", sa.Date(), autoincrement=False, nullable=False),
        sa.Column("points", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_bounce_person_id")),
        sa.PrimaryKeyConstraint("person_id", "day", name=op.f("pk_bounce")),
    )
    op.create_table(
        "friend",
        sa.Column(
            "person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column(
            "friend_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["friend_id"], ["person.id"], name=op.f("fk_friend_friend_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_friend_person_id")),
        sa.PrimaryKeyConstraint("person_id", "friend_id", name=op.f("pk_friend")),
    )
    with op.batch_alter_table("friend", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_friend_friend_id"), ["friend_id"], unique=False)

    op.create_table(
        "game",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("rules", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("seats", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("pace", sa.Text(), nullable=False),
        sa.Column("time_off", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("host_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.Column("doubles", sa.Boolean(), nullable=False),
        sa.Column("missed_limit", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("grace", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("second_chance", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("going_back", sa.Boolean(), nullable=False),
        sa.Column("successor", sa.Text(), nullable=False),
        sa.Column("stand_in", sa.Text(), nullable=False),
        sa.Column("hints", sa.Boolean(), nullable=False),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("fewest", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("conditions", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("commitment", sa.Text(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("seed", sa.LargeBinary(), nullable=True),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("turn", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("head", sa.LargeBinary(), nullable=False),
        sa.Column("entry_head", sa.LargeBinary(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("box", sa.Text(), nullable=False),
        sa.Column("seals", sa.Text(), nullable=False),
        sa.Column("orders", sa.Text(), nullable=False),
        sa.Column("halted", sa.Text(), nullable=True),
        sa.Column("result_seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("counted", sa.Boolean(), nullable=True),
        sa.CheckConstraint("halted IN ('gone', 'failed', 'changed')", name=op.f("ck_game_halted")),
        sa.CheckConstraint(
            "status IN ('planned', 'open', 'playing', 'over', 'void', 'closed', 'expired', 'frozen')",
            name=op.f("ck_game_status"),
        ),
        sa.CheckConstraint("successor IN ('substitute', 'bot')", name=op.f("ck_game_successor")),
        sa.ForeignKeyConstraint(["host_id"], ["person.id"], name=op.f("fk_game_host_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_game")),
        sa.UniqueConstraint("key", name=op.f("uq_game_key")),
    )
    with op.batch_alter_table("game", schema=None) as batch_op:
        batch_op.create_index(
            "ix_game_counted",
            ["status", "ended_at", "id"],
            unique=False,
            sqlite_where=sa.text("NOT private AND status = 'over' AND counted IS NULL"),
            postgresql_where=sa.text("NOT private AND status = 'over' AND counted IS NULL"),
        )
        batch_op.create_index(batch_op.f("ix_game_ended_at"), ["ended_at"], unique=False)
        batch_op.create_index(
            "ix_game_expiry",
            ["status", "expires_at"],
            unique=False,
            sqlite_where=sa.text("status IN ('planned', 'open')"),
            postgresql_where=sa.text("status IN ('planned', 'open')"),
        )
        batch_op.create_index(batch_op.f("ix_game_host_id"), ["host_id"], unique=False)
        batch_op.create_index(
            "ix_game_public",
            ["status", "ended_at", "key"],
            unique=False,
            sqlite_where=sa.text("NOT private AND status = 'over'"),
            postgresql_where=sa.text("NOT private AND status = 'over'"),
        )
        batch_op.create_index(
            "ix_game_public_of_kind",
            ["status", "kind", "ended_at", "key"],
            unique=False,
            sqlite_where=sa.text("NOT private AND status = 'over'"),
            postgresql_where=sa.text("NOT private AND status = 'over'"),
        )
        batch_op.create_index(
            "ix_game_result",
            ["status", "ended_at", "id"],
            unique=False,
            sqlite_where=sa.text("rated AND status = 'over' AND result_seq IS NULL"),
            postgresql_where=sa.text("rated AND status = 'over' AND result_seq IS NULL"),
        )
        batch_op.create_index(
            "ix_game_start",
            ["status", "starts_at"],
            unique=False,
            sqlite_where=sa.text("status = 'open'"),
            postgresql_where=sa.text("status = 'open'"),
        )
        batch_op.create_index(batch_op.f("ix_game_status_created_at"), ["status", "created_at"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_game_status_kind_created_at"), ["status", "kind", "created_at"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_game_status_kind_rules"), ["status", "kind", "rules"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_game_status_private_created_at"), ["status", "private", "created_at"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_game_status_private_kind_created_at"),
            ["status", "private", "kind", "created_at"],
            unique=False,
        )

    op.create_table(
        "group_members",
        sa.Column(
            "group_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column(
            "person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("role IN ('organiser', 'member', 'invited')", name=op.f("ck_group_members_role")),
        sa.ForeignKeyConstraint(["group_id"], ["groups.id"], name=op.f("fk_group_members_group_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_group_members_person_id")),
        sa.PrimaryKeyConstraint("group_id", "person_id", name=op.f("pk_group_members")),
    )
    with op.batch_alter_table("group_members", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_group_members_person_id"), ["person_id"], unique=False)

    op.create_table(
        "organiser",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("passphrase", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("totp", sa.Text(), nullable=True),
        sa.Column("totp_step", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_organiser_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_organiser")),
        sa.UniqueConstraint("name", name=op.f("uq_organiser_name")),
    )
    op.create_table(
        "person_name",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_person_name_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_person_name")),
    )
    with op.batch_alter_table("person_name", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_person_name_person_id"), ["person_id"], unique=False)

    op.create_table(
        "profile",
        sa.Column(
            "person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("audience", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("punctual", sa.Boolean(), nullable=False),
        sa.CheckConstraint("audience IN ('met', 'everyone')", name=op.f("ck_profile_audience")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_profile_person_id")),
        sa.PrimaryKeyConstraint("person_id", name=op.f("pk_profile")),
        sa.UniqueConstraint("key", name=op.f("uq_profile_key")),
    )
    op.create_table(
        "tournament",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("host_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("seeding", sa.Text(), nullable=False),
        sa.Column("seeds", sa.Text(), nullable=False),
        sa.Column("conditions", sa.Text(), nullable=False),
        sa.Column("group_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("fewest", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("most", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("late", sa.Text(), nullable=False),
        sa.Column("round_days", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("paused_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("round", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("byes", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closes_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("winners", sa.Text(), nullable=False),
        sa.Column("commitment", sa.Text(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("seed", sa.Text(), nullable=False),
        sa.Column("season", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("previous_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.CheckConstraint("status IN ('open', 'playing', 'over', 'called off')", name=op.f("ck_tournament_status")),
        sa.ForeignKeyConstraint(["group_id"], ["groups.id"], name=op.f("fk_tournament_group_id")),
        sa.ForeignKeyConstraint(["host_id"], ["person.id"], name=op.f("fk_tournament_host_id")),
        sa.ForeignKeyConstraint(["previous_id"], ["tournament.id"], name=op.f("fk_tournament_previous_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tournament")),
        sa.UniqueConstraint("key", name=op.f("uq_tournament_key")),
    )
    with op.batch_alter_table("tournament", schema=None) as batch_op:
        batch_op.create_index(
            "ix_tournament_current",
            ["id"],
            unique=False,
            sqlite_where=sa.text("status IN ('open', 'playing')"),
            postgresql_where=sa.text("status IN ('open', 'playing')"),
        )
        batch_op.create_index(
            "ix_tournament_group",
            ["group_id"],
            unique=False,
            sqlite_where=sa.text("group_id IS NOT NULL"),
            postgresql_where=sa.text("group_id IS NOT NULL"),
        )
        batch_op.create_index(batch_op.f("ix_tournament_host_id"), ["host_id"], unique=False)
        batch_op.create_index(
            "ix_tournament_public",
            ["created_at", "key"],
            unique=False,
            sqlite_where=sa.text("group_id IS NULL"),
            postgresql_where=sa.text("group_id IS NULL"),
        )
        batch_op.create_index(
            batch_op.f("ix_tournament_status_created_at_key"), ["status", "created_at", "key"], unique=False
        )

    op.create_table(
        "unreachable",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("end_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("covered_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("cause IN ('refused', 'bounced', 'complained')", name=op.f("ck_unreachable_cause")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_unreachable_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_unreachable")),
        sa.UniqueConstraint("person_id", "start_at", name=op.f("uq_unreachable_person_id_start_at")),
    )
    with op.batch_alter_table("unreachable", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_unreachable_end_at_start_at"), ["end_at", "start_at"], unique=False)

    op.create_table(
        "vacation",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("first", sa.Date(), nullable=False),
        sa.Column("last", sa.Date(), nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("end_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_vacation_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_vacation")),
    )
    with op.batch_alter_table("vacation", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_vacation_person_id"), ["person_id"], unique=False)

    op.create_table(
        "volunteer",
        sa.Column(
            "person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_volunteer_person_id")),
        sa.PrimaryKeyConstraint("person_id", name=op.f("pk_volunteer")),
    )
    op.create_table(
        "alarm",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("says", sa.Text(), nullable=False),
        sa.Column("emailed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_alarm_game_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_alarm_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alarm")),
    )
    with op.batch_alter_table("alarm", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_alarm_emailed_at_id"), ["emailed_at", "id"], unique=False)
        batch_op.create_index(batch_op.f("ix_alarm_person_id"), ["person_id"], unique=False)

    op.create_table(
        "audit",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("act", sa.Text(), nullable=False),
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("form", sa.Text(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("nonce", sa.LargeBinary(), nullable=False),
        sa.Column("body_hash", sa.LargeBinary(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_audit_game_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_audit_person_id")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_audit")),
        sa.UniqueConstraint("form", name=op.f("uq_audit_form")),
    )
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_audit_act_seq"), ["act", "seq"], unique=False)
        batch_op.create_index(batch_op.f("ix_audit_actor_seq"), ["actor", "seq"], unique=False)
        batch_op.create_index(batch_op.f("ix_audit_game_id_seq"), ["game_id", "seq"], unique=False)
        batch_op.create_index(batch_op.f("ix_audit_person_id_seq"), ["person_id", "seq"], unique=False)

    op.create_table(
        "back_vote",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seat", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("head", sa.LargeBinary(), nullable=False),
        sa.Column("back_to", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_back_vote_game_id")),
        sa.PrimaryKeyConstraint("game_id", "seat", name=op.f("pk_back_vote")),
    )
    op.create_table(
        "call",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("seat", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("turn", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("rules", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("proven", sa.Boolean(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("status IN ('open', 'closed')", name=op.f("ck_call_status")),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_call_game_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_call_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_call")),
    )
    with op.batch_alter_table("call", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_call_status_at"), ["status", "at"], unique=False)

    op.create_table(
        "channel",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("device", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("tries", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("proved_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("why", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "kind IN ('webhook', 'ntfy', 'discord', 'telegram', 'matrix', 'browser')", name=op.f("ck_channel_kind")
        ),
        sa.CheckConstraint("status IN ('pending', 'active', 'failed', 'removed')", name=op.f("ck_channel_status")),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_channel_game_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_channel_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_channel")),
    )
    with op.batch_alter_table("channel", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_channel_game_id"), ["game_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_channel_person_id"), ["person_id"], unique=False)

    op.create_table(
        "deadline",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("turn", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seat", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("rendered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("promised_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("remind_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reminded", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("extensions", sa.Text(), nullable=False),
        sa.Column("week", sa.Text(), nullable=True),
        sa.Column("attempts", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("undelivered", sa.Boolean(), nullable=False),
        sa.Column("missed_turn", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.CheckConstraint("status IN ('open', 'closed', 'missed', 'rewound')", name=op.f("ck_deadline_status")),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_deadline_game_id")),
        sa.PrimaryKeyConstraint("game_id", "turn", "seat", name=op.f("pk_deadline")),
    )
    with op.batch_alter_table("deadline", schema=None) as batch_op:
        batch_op.create_index(
            "ix_deadline_due",
            ["status", "due_at"],
            unique=False,
            sqlite_where=sa.text("status = 'open'"),
            postgresql_where=sa.text("status = 'open'"),
        )
        batch_op.create_index(
            "ix_deadline_remind",
            ["status", "remind_at"],
            unique=False,
            sqlite_where=sa.text("status = 'open' AND remind_at IS NOT NULL"),
            postgresql_where=sa.text("status = 'open' AND remind_at IS NOT NULL"),
        )

    op.create_table(
        "entrant",
        sa.Column(
            "tournament_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("bot", sa.Text(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("word", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("rank", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("division", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("since", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("until", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("away", sa.Text(), nullable=False),
        sa.Column("signed_up_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("status IN ('in', 'waiting', 'left', 'removed', 'absent')", name=op.f("ck_entrant_status")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_entrant_person_id")),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name=op.f("fk_entrant_tournament_id")),
        sa.PrimaryKeyConstraint("tournament_id", "number", name=op.f("pk_entrant")),
    )
    with op.batch_alter_table("entrant", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_entrant_person_id"), ["person_id"], unique=False)

    op.create_table(
        "finished_game",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("counts", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_finished_game_game_id")),
        sa.PrimaryKeyConstraint("game_id", name=op.f("pk_finished_game")),
    )
    op.create_table(
        "finished_seat",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seat", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("player", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("seats", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("rank", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("score", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("margin", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("choices", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_finished_seat_game_id")),
        sa.PrimaryKeyConstraint("game_id", "seat", "player", name=op.f("pk_finished_seat")),
    )
    with op.batch_alter_table("finished_seat", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_finished_seat_player_ended_at_game_id"), ["player", "ended_at", "game_id"], unique=False
        )

    op.create_table(
        "flaw",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("found_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("says", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_flaw_game_id")),
        sa.PrimaryKeyConstraint("game_id", name=op.f("pk_flaw")),
    )
    op.create_table(
        "former_player",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seat", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("turn", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("lines", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_former_player_game_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_former_player_person_id")),
        sa.PrimaryKeyConstraint("game_id", "seat", "seq", name=op.f("pk_former_player")),
    )
    with op.batch_alter_table("former_player", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_former_player_person_id"), ["person_id"], unique=False)

    op.create_table(
        "group_tables",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("group_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_group_tables_game_id")),
        sa.ForeignKeyConstraint(["group_id"], ["groups.id"], name=op.f("fk_group_tables_group_id")),
        sa.PrimaryKeyConstraint("game_id", name=op.f("pk_group_tables")),
    )
    with op.batch_alter_table("group_tables", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_group_tables_group_id_game_id"), ["group_id", "game_id"], unique=False)

    op.create_table(
        "insider",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column(
            "person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("how", sa.Text(), autoincrement=False, nullable=False),
        sa.CheckConstraint("how IN ('sat', 'looked')", name=op.f("ck_insider_how")),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_insider_game_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_insider_person_id")),
        sa.PrimaryKeyConstraint("game_id", "person_id", "how", name=op.f("pk_insider")),
    )
    with op.batch_alter_table("insider", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_insider_person_id"), ["person_id"], unique=False)

    op.create_table(
        "invitation",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("typed", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("status IN ('open', 'accepted', 'declined')", name=op.f("ck_invitation_status")),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_invitation_game_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_invitation_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitation")),
        sa.UniqueConstraint("game_id", "person_id", name=op.f("uq_invitation_game_id_person_id")),
    )
    op.create_table(
        "join_request",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column(
            "person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("word", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("invited", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_join_request_game_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_join_request_person_id")),
        sa.PrimaryKeyConstraint("game_id", "person_id", name=op.f("pk_join_request")),
    )
    with op.batch_alter_table("join_request", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_join_request_person_id"), ["person_id"], unique=False)

    op.create_table(
        "log",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("seat", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("rules", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("nonce", sa.LargeBinary(), nullable=False),
        sa.Column("body_hash", sa.LargeBinary(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_log_game_id")),
        sa.PrimaryKeyConstraint("game_id", "seq", name=op.f("pk_log")),
    )
    with op.batch_alter_table("log", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_log_at"), ["at"], unique=False)

    op.create_table(
        "note",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seat", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column(
            "person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_note_game_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_note_person_id")),
        sa.PrimaryKeyConstraint("game_id", "seat", "person_id", name=op.f("pk_note")),
    )
    with op.batch_alter_table("note", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_note_person_id"), ["person_id"], unique=False)

    op.create_table(
        "offer",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("seat", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("successor", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("offered_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("taken_by", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("reserved_turn", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("reserved_as", sa.Text(), nullable=True),
        sa.CheckConstraint("status IN ('open', 'taken', 'back', 'over')", name=op.f("ck_offer_status")),
        sa.CheckConstraint("successor IN ('substitute', 'bot')", name=op.f("ck_offer_successor")),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_offer_game_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_offer_person_id")),
        sa.ForeignKeyConstraint(["taken_by"], ["person.id"], name=op.f("fk_offer_taken_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_offer")),
    )
    with op.batch_alter_table("offer", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_offer_game_id_seat"), ["game_id", "seat"], unique=False)
        batch_op.create_index(batch_op.f("ix_offer_person_id"), ["person_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_offer_status"), ["status"], unique=False)

    op.create_table(
        "outbox",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("seat", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("turn", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("rank", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("queued_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("attempts", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=True),
        sa.Column("rendered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("channel_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("remote_id", sa.Text(), nullable=True),
        sa.Column("lines", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.CheckConstraint(
            "status IN ('queued', 'digest', 'sent', 'withheld', 'superseded', 'parked', 'undeliverable')",
            name=op.f("ck_outbox_status"),
        ),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_outbox_game_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_outbox_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
        sa.UniqueConstraint(
            "game_id", "seq", "seat", "kind", "channel_id", name=op.f("uq_outbox_game_id_seq_seat_kind_channel_id")
        ),
    )
    with op.batch_alter_table("outbox", schema=None) as batch_op:
        batch_op.create_index("ix_outbox_due", ["status", "due_at"], unique=False)
        batch_op.create_index(
            "ix_outbox_editable",
            ["due_at"],
            unique=False,
            sqlite_where=sa.text("remote_id IS NOT NULL"),
            postgresql_where=sa.text("remote_id IS NOT NULL"),
        )
        batch_op.create_index(batch_op.f("ix_outbox_person_id_queued_at"), ["person_id", "queued_at"], unique=False)
        batch_op.create_index(
            "ix_outbox_turns",
            ["rank", "domain", "id"],
            unique=False,
            sqlite_where=sa.text("status = 'queued'"),
            postgresql_where=sa.text("status = 'queued'"),
        )

    op.create_table(
        "pause",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("end_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_pause_game_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pause")),
    )
    with op.batch_alter_table("pause", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_pause_end_at_game_id"), ["end_at", "game_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_pause_game_id"), ["game_id"], unique=False)

    op.create_table(
        "player",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seat", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("bot", sa.Text(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("word", sa.Text(), nullable=False),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("missed", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_player_game_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_player_person_id")),
        sa.PrimaryKeyConstraint("game_id", "number", name=op.f("pk_player")),
        sa.UniqueConstraint("game_id", "seat", name=op.f("uq_player_game_id_seat")),
    )
    with op.batch_alter_table("player", schema=None) as batch_op:
        batch_op.create_index(
            "ix_player_missed",
            ["missed"],
            unique=False,
            sqlite_where=sa.text("missed >= 2"),
            postgresql_where=sa.text("missed >= 2"),
        )
        batch_op.create_index(batch_op.f("ix_player_person_id"), ["person_id"], unique=False)

    op.create_table(
        "preference",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column(
            "person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("delivery", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_preference_game_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_preference_person_id")),
        sa.PrimaryKeyConstraint("game_id", "person_id", name=op.f("pk_preference")),
    )
    with op.batch_alter_table("preference", schema=None) as batch_op:
        batch_op.create_index(
            "ix_preference_digest",
            ["delivery", "person_id"],
            unique=False,
            sqlite_where=sa.text("delivery = 'daily'"),
            postgresql_where=sa.text("delivery = 'daily'"),
        )
        batch_op.create_index(batch_op.f("ix_preference_person_id"), ["person_id"], unique=False)

    op.create_table(
        "recording",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("rulings", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("imprints", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_recording_game_id")),
        sa.PrimaryKeyConstraint("game_id", name=op.f("pk_recording")),
    )
    op.create_table(
        "result",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("kind", sa.Text(), nullable=True),
        sa.Column("seat", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("player", sa.Text(), nullable=False),
        sa.Column("rank", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("into", sa.Text(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("what IN ('ended', 'corrected', 'merged')", name=op.f("ck_result_what")),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_result_game_id")),
        sa.PrimaryKeyConstraint("seq", "number", name=op.f("pk_result")),
    )
    with op.batch_alter_table("result", schema=None) as batch_op:
        batch_op.create_index(
            "ix_result_changes",
            ["seq"],
            unique=False,
            sqlite_where=sa.text("what <> 'ended'"),
            postgresql_where=sa.text("what <> 'ended'"),
        )
        batch_op.create_index(batch_op.f("ix_result_game_id_seq"), ["game_id", "seq"], unique=False)
        batch_op.create_index(
            "ix_result_merges",
            ["player"],
            unique=False,
            sqlite_where=sa.text("what = 'merged'"),
            postgresql_where=sa.text("what = 'merged'"),
        )
        batch_op.create_index(batch_op.f("ix_result_player"), ["player"], unique=False)

    op.create_table(
        "review",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seat", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("shared", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_review_game_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_review_person_id")),
        sa.PrimaryKeyConstraint("game_id", "seat", name=op.f("pk_review")),
    )
    with op.batch_alter_table("review", schema=None) as batch_op:
        batch_op.create_index(
            "ix_review_due",
            ["due_at"],
            unique=False,
            sqlite_where=sa.text("body IS NULL"),
            postgresql_where=sa.text("body IS NULL"),
        )
        batch_op.create_index(batch_op.f("ix_review_person_id"), ["person_id"], unique=False)

    op.create_table(
        "round_table",
        sa.Column(
            "tournament_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("round", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("seats", sa.Text(), nullable=False),
        sa.Column("places", sa.Text(), nullable=True),
        sa.Column("how", sa.Text(), nullable=False),
        sa.Column("corrections", sa.Text(), nullable=False),
        sa.CheckConstraint("how IN ('', 'played', 'bots', 'void')", name=op.f("ck_round_table_how")),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_round_table_game_id")),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name=op.f("fk_round_table_tournament_id")),
        sa.PrimaryKeyConstraint("tournament_id", "round", "number", name=op.f("pk_round_table")),
        sa.UniqueConstraint("game_id", name=op.f("uq_round_table_game_id")),
    )
    with op.batch_alter_table("round_table", schema=None) as batch_op:
        batch_op.create_index(
            "ix_round_table_not_noted",
            ["game_id"],
            unique=False,
            sqlite_where=sa.text("places IS NULL"),
            postgresql_where=sa.text("places IS NULL"),
        )

    op.create_table(
        "session",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("organiser_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_on", sa.Date(), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("(person_id IS NULL) <> (organiser_id IS NULL)", name=op.f("ck_session_whose")),
        sa.ForeignKeyConstraint(
            ["organiser_id"], ["organiser.id"], name=op.f("fk_session_organiser_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_session_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_session")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_session_secret_hash")),
    )
    with op.batch_alter_table("session", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_session_organiser_id"), ["organiser_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_session_person_id"), ["person_id"], unique=False)

    op.create_table(
        "sign_up",
        sa.Column(
            "tournament_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column(
            "person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("typed", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("round", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.CheckConstraint("status IN ('open', 'accepted', 'declined')", name=op.f("ck_sign_up_status")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_sign_up_person_id")),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name=op.f("fk_sign_up_tournament_id")),
        sa.PrimaryKeyConstraint("tournament_id", "person_id", name=op.f("pk_sign_up")),
    )
    with op.batch_alter_table("sign_up", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sign_up_person_id"), ["person_id"], unique=False)

    op.create_table(
        "talk",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seat", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("rules", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("nonce", sa.LargeBinary(), nullable=True),
        sa.Column("body_hash", sa.LargeBinary(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("log_seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_talk_game_id")),
        sa.PrimaryKeyConstraint("game_id", "seq", name=op.f("pk_talk")),
    )
    op.create_table(
        "view",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seat", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("turn", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_view_game_id")),
        sa.PrimaryKeyConstraint("game_id", "seat", "turn", name=op.f("pk_view")),
    )
    op.create_table(
        "vote",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seat", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_vote_game_id")),
        sa.PrimaryKeyConstraint("game_id", "seat", name=op.f("pk_vote")),
    )
    op.create_table(
        "ledger",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("outbox_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["outbox_id"], ["outbox.id"], name=op.f("fk_ledger_outbox_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger")),
    )
    with op.batch_alter_table("ledger", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_ledger_outbox_id"), ["outbox_id"], unique=False)

    op.create_table(
        "link",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("nonce", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("replaced", sa.Text(), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("turn", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("seat", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("outbox_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_link_game_id")),
        sa.ForeignKeyConstraint(["outbox_id"], ["outbox.id"], name=op.f("fk_link_outbox_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_link_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_link")),
        sa.UniqueConstraint(
            "game_id", "seat", "turn", "purpose", "person_id", name=op.f("uq_link_game_id_seat_turn_purpose_person_id")
        ),
    )
    with op.batch_alter_table("link", schema=None) as batch_op:
        batch_op.create_index(
            "ix_link_of_nobody",
            ["purpose"],
            unique=True,
            sqlite_where=sa.text("person_id IS NULL AND game_id IS NULL"),
            postgresql_where=sa.text("person_id IS NULL AND game_id IS NULL"),
        )
        batch_op.create_index(
            "ix_link_outbox_id",
            ["outbox_id"],
            unique=False,
            sqlite_where=sa.text("outbox_id IS NOT NULL"),
            postgresql_where=sa.text("outbox_id IS NOT NULL"),
        )
        batch_op.create_index(batch_op.f("ix_link_person_id"), ["person_id"], unique=False)

    op.create_table(
        "received",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False),
        sa.Column("link_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("nonce", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("signatures", sa.Text(), nullable=False),
        sa.Column("raw", sa.LargeBinary(), nullable=True),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("acts", sa.Text(), nullable=False),
        sa.Column("attempts", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("status IN ('waiting', 'doubted', 'done', 'parked')", name=op.f("ck_received_status")),
        sa.ForeignKeyConstraint(["link_id"], ["link.id"], name=op.f("fk_received_link_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_received")),
        sa.UniqueConstraint("fingerprint", name=op.f("uq_received_fingerprint")),
    )
    with op.batch_alter_table("received", schema=None) as batch_op:
        batch_op.create_index("ix_received_due", ["status", "due_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_received_link_id_received_at"), ["link_id", "received_at"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("received", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_received_link_id_received_at"))
        batch_op.drop_index("ix_received_due")

    op.drop_table("received")
    with op.batch_alter_table("link", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_link_person_id"))
        batch_op.drop_index(
            "ix_link_outbox_id",
            sqlite_where=sa.text("outbox_id IS NOT NULL"),
            postgresql_where=sa.text("outbox_id IS NOT NULL"),
        )
        batch_op.drop_index(
            "ix_link_of_nobody",
            sqlite_where=sa.text("person_id IS NULL AND game_id IS NULL"),
            postgresql_where=sa.text("person_id IS NULL AND game_id IS NULL"),
        )

    op.drop_table("link")
    with op.batch_alter_table("ledger", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_ledger_outbox_id"))

    op.drop_table("ledger")
    op.drop_table("vote")
    op.drop_table("view")
    op.drop_table("talk")
    with op.batch_alter_table("sign_up", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_sign_up_person_id"))

    op.drop_table("sign_up")
    with op.batch_alter_table("session", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_session_person_id"))
        batch_op.drop_index(batch_op.f("ix_session_organiser_id"))

    op.drop_table("session")
    with op.batch_alter_table("round_table", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_round_table_not_noted",
            sqlite_where=sa.text("places IS NULL"),
            postgresql_where=sa.text("places IS NULL"),
        )

    op.drop_table("round_table")
    with op.batch_alter_table("review", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_review_person_id"))
        batch_op.drop_index(
            "ix_review_due", sqlite_where=sa.text("body IS NULL"), postgresql_where=sa.text("body IS NULL")
        )

    op.drop_table("review")
    with op.batch_alter_table("result", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_result_player"))
        batch_op.drop_index(
            "ix_result_merges", sqlite_where=sa.text("what = 'merged'"), postgresql_where=sa.text("what = 'merged'")
        )
        batch_op.drop_index(batch_op.f("ix_result_game_id_seq"))
        batch_op.drop_index(
            "ix_result_changes", sqlite_where=sa.text("what <> 'ended'"), postgresql_where=sa.text("what <> 'ended'")
        )

    op.drop_table("result")
    op.drop_table("recording")
    with op.batch_alter_table("preference", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_preference_person_id"))
        batch_op.drop_index(
            "ix_preference_digest",
            sqlite_where=sa.text("delivery = 'daily'"),
            postgresql_where=sa.text("delivery = 'daily'"),
        )

    op.drop_table("preference")
    with op.batch_alter_table("player", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_player_person_id"))
        batch_op.drop_index(
            "ix_player_missed", sqlite_where=sa.text("missed >= 2"), postgresql_where=sa.text("missed >= 2")
        )

    op.drop_table("player")
    with op.batch_alter_table("pause", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_pause_game_id"))
        batch_op.drop_index(batch_op.f("ix_pause_end_at_game_id"))

    op.drop_table("pause")
    with op.batch_alter_table("outbox", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_outbox_turns", sqlite_where=sa.text("status = 'queued'"), postgresql_where=sa.text("status = 'queued'")
        )
        batch_op.drop_index(batch_op.f("ix_outbox_person_id_queued_at"))
        batch_op.drop_index(
            "ix_outbox_editable",
            sqlite_where=sa.text("remote_id IS NOT NULL"),
            postgresql_where=sa.text("remote_id IS NOT NULL"),
        )
        batch_op.drop_index("ix_outbox_due")

    op.drop_table("outbox")
    with op.batch_alter_table("offer", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_offer_status"))
        batch_op.drop_index(batch_op.f("ix_offer_person_id"))
        batch_op.drop_index(batch_op.f("ix_offer_game_id_seat"))

    op.drop_table("offer")
    with op.batch_alter_table("note", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_note_person_id"))

    op.drop_table("note")
    with op.batch_alter_table("log", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_log_at"))

    op.drop_table("log")
    with op.batch_alter_table("join_request", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_join_request_person_id"))

    op.drop_table("join_request")
    op.drop_table("invitation")
    with op.batch_alter_table("insider", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_insider_person_id"))

    op.drop_table("insider")
    with op.batch_alter_table("group_tables", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_group_tables_group_id_game_id"))

    op.drop_table("group_tables")
    with op.batch_alter_table("former_player", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_former_player_person_id"))

    op.drop_table("former_player")
    op.drop_table("flaw")
    with op.batch_alter_table("finished_seat", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_finished_seat_player_ended_at_game_id"))

    op.drop_table("finished_seat")
    op.drop_table("finished_game")
    with op.batch_alter_table("entrant", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_entrant_person_id"))

    op.drop_table("entrant")
    with op.batch_alter_table("deadline", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_deadline_remind",
            sqlite_where=sa.text("status = 'open' AND remind_at IS NOT NULL"),
            postgresql_where=sa.text("status = 'open' AND remind_at IS NOT NULL"),
        )
        batch_op.drop_index(
            "ix_deadline_due", sqlite_where=sa.text("status = 'open'"), postgresql_where=sa.text("status = 'open'")
        )

    op.drop_table("deadline")
    with op.batch_alter_table("channel", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_channel_person_id"))
        batch_op.drop_index(batch_op.f("ix_channel_game_id"))

    op.drop_table("channel")
    with op.batch_alter_table("call", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_call_status_at"))

    op.drop_table("call")
    op.drop_table("back_vote")
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_audit_person_id_seq"))
        batch_op.drop_index(batch_op.f("ix_audit_game_id_seq"))
        batch_op.drop_index(batch_op.f("ix_audit_actor_seq"))
        batch_op.drop_index(batch_op.f("ix_audit_act_seq"))

    op.drop_table("audit")
    with op.batch_alter_table("alarm", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_alarm_person_id"))
        batch_op.drop_index(batch_op.f("ix_alarm_emailed_at_id"))

    op.drop_table("alarm")
    op.drop_table("volunteer")
    with op.batch_alter_table("vacation", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_vacation_person_id"))

    op.drop_table("vacation")
    with op.batch_alter_table("unreachable", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_unreachable_end_at_start_at"))

    op.drop_table("unreachable")
    with op.batch_alter_table("tournament", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_tournament_status_created_at_key"))
        batch_op.drop_index(
            "ix_tournament_public",
            sqlite_where=sa.text("group_id IS NULL"),
            postgresql_where=sa.text("group_id IS NULL"),
        )
        batch_op.drop_index(batch_op.f("ix_tournament_host_id"))
        batch_op.drop_index(
            "ix_tournament_group",
            sqlite_where=sa.text("group_id IS NOT NULL"),
            postgresql_where=sa.text("group_id IS NOT NULL"),
        )
        batch_op.drop_index(
            "ix_tournament_current",
            sqlite_where=sa.text("status IN ('open', 'playing')"),
            postgresql_where=sa.text("status IN ('open', 'playing')"),
        )

    op.drop_table("tournament")
    op.drop_table("profile")
    with op.batch_alter_table("person_name", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_person_name_person_id"))

    op.drop_table("person_name")
    op.drop_table("organiser")
    with op.batch_alter_table("group_members", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_group_members_person_id"))

    op.drop_table("group_members")
    with op.batch_alter_table("game", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_game_status_private_kind_created_at"))
        batch_op.drop_index(batch_op.f("ix_game_status_private_created_at"))
        batch_op.drop_index(batch_op.f("ix_game_status_kind_rules"))
        batch_op.drop_index(batch_op.f("ix_game_status_kind_created_at"))
        batch_op.drop_index(batch_op.f("ix_game_status_created_at"))
        batch_op.drop_index(
            "ix_game_start", sqlite_where=sa.text("status = 'open'"), postgresql_where=sa.text("status = 'open'")
        )
        batch_op.drop_index(
            "ix_game_result",
            sqlite_where=sa.text("rated AND status = 'over' AND result_seq IS NULL"),
            postgresql_where=sa.text("rated AND status = 'over' AND result_seq IS NULL"),
        )
        batch_op.drop_index(
            "ix_game_public_of_kind",
            sqlite_where=sa.text("NOT private AND status = 'over'"),
            postgresql_where=sa.text("NOT private AND status = 'over'"),
        )
        batch_op.drop_index(
            "ix_game_public",
            sqlite_where=sa.text("NOT private AND status = 'over'"),
            postgresql_where=sa.text("NOT private AND status = 'over'"),
        )
        batch_op.drop_index(batch_op.f("ix_game_host_id"))
        batch_op.drop_index(
            "ix_game_expiry",
            sqlite_where=sa.text("status IN ('planned', 'open')"),
            postgresql_where=sa.text("status IN ('planned', 'open')"),
        )
        batch_op.drop_index(batch_op.f("ix_game_ended_at"))
        batch_op.drop_index(
            "ix_game_counted",
            sqlite_where=sa.text("NOT private AND status = 'over' AND counted IS NULL"),
            postgresql_where=sa.text("NOT private AND status = 'over' AND counted IS NULL"),
        )

    op.drop_table("game")
    with op.batch_alter_table("friend", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_friend_friend_id"))

    op.drop_table("friend")
    op.drop_table("bounce")
    with op.batch_alter_table("block", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_block_blocked_id"))

    op.drop_table("block")
    with op.batch_alter_table("ban", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_ban_person_id"))

    op.drop_table("ban")
    with op.batch_alter_table("alias", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_alias_identity"))

    op.drop_table("alias")
    op.drop_table("web_server")
    op.drop_table("task_run")
    op.drop_table("task_progress")
    op.drop_table("tally")
    with op.batch_alter_table("search_word", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_search_word_about_subject_id_word"))

    op.drop_table("search_word")
    op.drop_table("received_count")
    with op.batch_alter_table("rating", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_rating_player_kind_seq"))

    op.drop_table("rating")
    op.drop_table("quota")
    with op.batch_alter_table("person", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_person_digest",
            sqlite_where=sa.text("delivery = 'daily'"),
            postgresql_where=sa.text("delivery = 'daily'"),
        )

    op.drop_table("person")
    with op.batch_alter_table("outage", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_outage_end_at"))

    op.drop_table("outage")
    op.drop_table("mail_server")
    op.drop_table("link_request")
    op.drop_table("lease")
    op.drop_table("known_key")
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_job_status_id"))

    op.drop_table("job")
    op.drop_table("heartbeat")
    op.drop_table("groups")
    op.drop_table("game_sum")
    op.drop_table("dump_part")
    op.drop_table("dump")
    op.drop_table("domain_traffic")
    op.drop_table("clock_step")
    op.drop_table("audit_head")

import stat
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from pbem.config import read, save_keys, show
from pbem.config.fields import Setting
from pbem.config.settings import SETTINGS, Security, SenderCheck
from pbem.domain.errors import BadInput
from pbem.domain.pace import PerDecision
from pbem.tokens import Keyring, rotate

RING = Keyring.new(bytes(range(40)), date(2026, 11, 21))
SECRET = RING.text().strip()
PUBLIC = {"PBEM_BASE_URL": "https://games.example.org", "PBEM_SMTP_HOST": "relay.example.org"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def problems(**environ: str) -> list[str]:
    with pytest.raises(BadInput) as refusal:
        read(environ)
    return refusal.value.what.removeprefix("These settings are wrong:\n- ").split("\n- ")


def test_without_settings_the_server_is_for_this_machine_only(folder: Path) -> None:
    config = read({})
    assert config.base_url == "http://localhost:8000"
    assert config.web.host == "127.0.0.1"
    assert config.smtp is None
    assert config.development
    assert config.data_dir == folder / ".pbem"
    assert config.database_url == f"sqlite:///{folder}/.pbem/pbem.sqlite3"
    assert config.site.pace == PerDecision(timedelta(days=1))


def test_reading_changes_nothing(folder: Path) -> None:
    read({})
    assert list(folder.iterdir()) == []


def test_a_public_site_needs_only_its_address_and_relay() -> None:
    config = read({**PUBLIC, "PBEM_SMTP_SECURITY": "tls"})
    assert not config.development
    assert config.trusted_hosts == ("games.example.org",)
    assert config.mail.sender == "games@games.example.org"
    assert config.site.contact == "organiser@games.example.org"
    assert config.inbound.sender_check is SenderCheck.STRICT
    assert config.smtp is not None
    assert (config.smtp.port, config.smtp.security) == (465, Security.TLS)


def test_a_development_server_answers_to_every_local_name() -> None:
    assert read({}).trusted_hosts == ("localhost", "127.0.0.1", "[::1]")
    named = read({"PBEM_BASE_URL": "http://games.localhost:8000"})
    assert named.trusted_hosts == ("games.localhost", "localhost", "127.0.0.1", "[::1]")


def test_the_environment_wins_over_the_file(folder: Path) -> None:
    (folder / "pbem.toml").write_text(
        'base_url = "http://localhost:9000"\ntrusted_hosts = ["localhost", "box.localhost"]\n'
        'development = true\n[web]\nport = 9000\nthreads = 2\n[site]\nname = "Zoë\'s"\n'
    )
    config = read({"PBEM_WEB_THREADS": "3"})
    assert (config.web.port, config.web.threads) == (9000, 3)
    assert config.trusted_hosts == ("localhost", "box.localhost")
    assert config.site.name == "Zoë's"


def test_the_file_may_be_anywhere(folder: Path) -> None:
    (folder / "other.toml").write_text("[web]\nport = 9000\n")
    assert read({"PBEM_CONFIG": "other.toml"}).web.port == 9000
    assert problems(PBEM_CONFIG="gone.toml") == [
        "gone.toml cannot be read: No such file or directory. Correct the path or the permissions."
    ]


def test_an_empty_variable_counts_as_not_set() -> None:
    assert read({"PBEM_WEB_PORT": ""}).web.port == 8000


def test_variables_of_other_programs_are_ignored() -> None:
    assert read({"PBEM_TEST_POSTGRESQL": "x", "HOME": "/", "PATH": ""}).web.port == 8000


def test_all_mistakes_are_reported_at_once(folder: Path) -> None:
    (folder / "pbem.toml").write_text("[web]\nadmin_port = 1.5\n[site]\nzone = 'UTC'\n")
    assert problems(PBEM_WEB_PORT="80a", PBEM_DATA_DIR="~nobody-here", PBEM_SMTP_PASWORD="x", PBEM_SMTP_USER="u") == [
        "web.admin_port in pbem.toml: write text, a whole number, true, false or a list.",
        "site.zone in pbem.toml: there is no such setting; did you mean site.timezone?",
        "PBEM_SMTP_PASWORD: there is no such setting; did you mean PBEM_SMTP_PASSWORD?",
        "PBEM_DATA_DIR: “~nobody-here” is not a folder.",
        "PBEM_WEB_PORT: “80a” is not a whole number from 1 to 65535.",
        "PBEM_SMTP_USER and PBEM_SMTP_PASSWORD: set both or neither.",
    ]


def test_consequences_of_a_mistake_are_not_reported() -> None:
    assert len(problems(PBEM_BASE_URL="games.example.org")) == 1


WRONG = [
    ("PBEM_BASE_URL", ["games.example.org", "ftp://x.org", "https://x.org/games", "https://u@x.org"]),
    ("PBEM_BASE_URL", ["https://", "https://x.org?a", "https://x.org:99999", "https://x.org:0"]),
    ("PBEM_TRUSTED_HOSTS", ["a b", "a,,b", "https://x.org"]),
    (
        "PBEM_DATABASE_URL",
        [
            "mysql://h/d",
            "postgres://h/d",
            "pbem.sqlite3",
            "sqlite://\n",
            "sqlite://",
            "sqlite:///",
            "sqlite:///:memory:",
        ],
    ),
    ("PBEM_DEVELOPMENT", ["maybe", "2"]),
    ("PBEM_WEB_PORT", ["0", "65536", "-1", "8_0", "8e2", "٨", "9" * 5000]),
    ("PBEM_MAIL_SENDER", ["games", "a@b@c", "a@b\nBcc: x@y", "Zoë <zoe@example.org>"]),
    ("PBEM_SITE_NAME", ["Games\nBcc: x@example.org"]),
    ("PBEM_SMTP_SECURITY", ["ssl"]),
    ("PBEM_SITE_PACE", ["1w", "soon"]),
    ("PBEM_KEYS", ["x", "a:2026-11-21:abc"]),
]


@pytest.mark.parametrize(("variable", "text"), [(variable, text) for variable, texts in WRONG for text in texts])
def test_a_value_of_another_kind_is_refused_with_the_name(variable: str, text: str) -> None:
    found = problems(**{variable: text})
    assert len(found) == 1
    assert found[0].startswith(f"{variable}: ")


def test_a_value_of_another_kind_is_refused_from_any_source(folder: Path) -> None:
    (folder / "pbem.toml").write_text("[web]\nport = 0\n")
    assert problems() == ["web.port in pbem.toml: “0” is not a whole number from 1 to 65535."]
    (folder / "pbem.toml").write_text("[web\n")
    assert problems()[0].startswith("pbem.toml is not TOML")
    (folder / "pbem.toml").write_bytes(b"\xff")
    assert problems() == ["pbem.toml isn't UTF-8 text. Save it as UTF-8."]
    (folder / "pbem.toml").write_text("#" * 100_001)
    assert problems() == ["pbem.toml is too long. Check that it is the right file."]


DISAGREEMENTS = [
    ({"PBEM_BASE_URL": "http://games.example.org"}, "write https://"),
    ({"PBEM_DEVELOPMENT": "yes"}, "could read all emails"),
    ({"PBEM_SMTP_HOST": ""}, "name a relay"),
    ({"PBEM_SMTP_USER": "u"}, "both or neither"),
    ({"PBEM_SMTP_PASSWORD": "p"}, "both or neither"),
    ({"PBEM_SMTP_USER": "u", "PBEM_SMTP_PASSWORD": "p", "PBEM_SMTP_SECURITY": "none"}, "must be encrypted"),
    ({"PBEM_WEB_ADMIN_PORT": "8000"}, "choose another"),
]


@pytest.mark.parametrize(("changed", "message"), DISAGREEMENTS)
def test_conflicting_settings_are_refused(changed: dict[str, str], message: str) -> None:
    read(PUBLIC)
    (problem,) = problems(**{**PUBLIC, **changed})
    assert message in problem


@pytest.mark.parametrize(
    "settings",
    [
        {"PBEM_BASE_URL": "http://192.168.1.5:8000"},
        {"PBEM_BASE_URL": "https://192.168.1.5"},
        {"PBEM_WEB_HOST": "0.0.0.0"},
        {"PBEM_WEB_HOST": "::"},
        {"PBEM_WEB_HOST": "192.168.1.5"},
        {"PBEM_WEB_HOST": "127.evil.example"},
        {"PBEM_TRUSTED_HOSTS": "localhost, play.example.org"},
    ],
)
def test_the_development_inbox_is_refused_at_an_address_that_others_reach(settings: dict[str, str]) -> None:
    (problem,) = problems(**settings, PBEM_DEVELOPMENT="yes")
    assert "could read all emails" in problem


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_the_development_inbox_is_open_on_this_machine(host: str) -> None:
    assert read({"PBEM_WEB_HOST": host}).development


# Secrets.


def test_keys_are_saved_for_their_owner_alone_and_read_back(folder: Path) -> None:
    save_keys(folder / ".pbem", RING)
    file = folder / ".pbem" / "keys"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert read({}).keyring() == RING
    rotated = rotate(RING, bytes(40), date(2026, 12, 1))
    save_keys(folder / ".pbem", rotated)
    assert read({}).keyring() == rotated
    assert list(file.parent.iterdir()) == [file]


def test_keys_that_others_can_read_are_refused(folder: Path) -> None:
    save_keys(folder / ".pbem", RING)
    (folder / ".pbem" / "keys").chmod(0o640)
    (problem,) = problems()
    assert "chmod 600" in problem


def test_without_keys_the_error_says_how_to_make_them() -> None:
    with pytest.raises(BadInput, match="pbem init"):
        read({}).keyring()


def test_a_secret_may_be_in_its_own_file(folder: Path) -> None:
    (folder / "word").write_text("hunter2\n")
    (folder / "url").write_text("postgresql://pbem:hunter2@db/pbem\n")
    (folder / "keys").write_text(f"# ours\n{SECRET}\n")
    (folder / "pbem.toml").write_text("[smtp]\nuser = 'u'\npassword_file = 'word'\n")
    config = read({**PUBLIC, "PBEM_DATABASE_URL_FILE": "url", "PBEM_KEYS_FILE": "keys"})
    assert config.smtp is not None
    assert config.smtp.password == "hunter2"
    assert config.database_url == "postgresql://pbem:hunter2@db/pbem"
    assert config.keyring() == RING


def test_a_secret_set_twice_or_missing_is_refused() -> None:
    assert problems(PBEM_KEYS=SECRET, PBEM_KEYS_FILE="x") == [
        "PBEM_KEYS_FILE: PBEM_KEYS is set as well; remove one of the two."
    ]
    (problem,) = problems(PBEM_KEYS_FILE="x")
    assert problem.startswith("PBEM_KEYS_FILE: x cannot be read: No such file")


def test_only_a_secret_may_be_in_its_own_file() -> None:
    assert "no such setting" in problems(PBEM_WEB_PORT_FILE="x")[0]


def test_no_secret_is_shown() -> None:
    config = read(
        {
            **PUBLIC,
            "PBEM_KEYS": SECRET,
            "PBEM_SMTP_USER": "u",
            "PBEM_SMTP_PASSWORD": "hunter2",
            "PBEM_DATABASE_URL": "postgresql+psycopg://pbem:hunter2@db/pbem?password=hunter2",
        }
    )
    for text in (repr(config), str(config), show(config)):
        assert "hunter2" not in text
        assert SECRET.split(":")[2][:12] not in text
    assert "PBEM_DATABASE_URL             postgresql+psycopg://pbem:***@db/pbem?***\n" in show(config)
    assert "PBEM_SMTP_PASSWORD            set\n" in show(config)
    assert "PBEM_KEYS                     set\n" in show(config)


@pytest.mark.parametrize("variable", [each.variable for each in SETTINGS if each.secret])
def test_no_secret_is_in_a_message(variable: str) -> None:
    for secret in ("hunter2\x00", f"{SECRET}x\x00"):
        assert secret[:7] not in "".join(problems(**{variable: secret}))


# Declarations and listings.


def test_every_setting_is_shown_once_and_explained() -> None:
    lines = show(read({})).splitlines()
    assert [line.split()[0] for line in lines] == [each.variable for each in SETTINGS]
    assert len({each.variable for each in SETTINGS}) == len(SETTINGS)
    for each in SETTINGS:
        assert each.explanation.endswith(".")
        assert each.explanation[0].isupper()
        assert each.kind.name


def test_the_shown_configuration_can_be_read_back() -> None:
    for config in (read({}), read({**PUBLIC, "PBEM_SITE_PACE": "Tue,Fri 20:00 Europe/Berlin"})):
        shown = dict(line.split(maxsplit=1) for line in show(config).splitlines() if " " in line)
        assert read({name: text for name, text in shown.items() if text != "not set"}) == config


@pytest.mark.parametrize("each", SETTINGS, ids=lambda each: each.name)
@given(text=st.text(max_size=12))
def test_no_text_breaks_the_parser(each: Setting, text: str) -> None:
    # A refusal is a proper answer.
    with suppress(BadInput):
        read({**PUBLIC, each.variable: text})


SIGNING_KEY = (Path(__file__).parent / "mail" / "dkim.pem").read_text()


def test_a_signing_key_comes_from_its_own_file_and_is_never_shown(folder: Path) -> None:
    (folder / "dkim.pem").write_text(SIGNING_KEY)
    config = read({**PUBLIC, "PBEM_DKIM_PRIVATE_KEY_FILE": "dkim.pem", "PBEM_DKIM_DOMAIN": "example.org"})
    assert config.dkim is not None
    assert (config.dkim.domain, config.dkim.selector) == ("example.org", "pbem")
    assert config.dkim.private_key == SIGNING_KEY.rstrip()
    line = SIGNING_KEY.split("\n")[1]
    assert line not in repr(config)
    assert line not in show(config)
    assert read(PUBLIC).dkim is None


@pytest.mark.parametrize("text", ["nonsense", SIGNING_KEY.replace("PRIVATE", "ENCRYPTED PRIVATE")])
def test_an_unreadable_key_is_reported_with_all_other_mistakes(folder: Path, text: str) -> None:
    (folder / "dkim.pem").write_text(text)
    found = problems(PBEM_DKIM_PRIVATE_KEY_FILE="dkim.pem", PBEM_WEB_PORT="none")
    assert "PBEM_DKIM_PRIVATE_KEY_FILE: this is not an RSA private key without a passphrase, in PEM." in found
    assert len(found) == 2
    (gone,) = problems(PBEM_DKIM_PRIVATE_KEY_FILE="gone.pem")
    assert gone.startswith("PBEM_DKIM_PRIVATE_KEY_FILE: gone.pem cannot be read: No such file or directory.")


@pytest.mark.parametrize("domain", ["other.example", "ames.example.org", "mail.games.example.org"])
def test_only_the_senders_domain_or_one_above_it_can_sign_an_email(folder: Path, domain: str) -> None:
    (found,) = problems(**PUBLIC, PBEM_DKIM_PRIVATE_KEY=SIGNING_KEY, PBEM_DKIM_DOMAIN=domain)
    assert found.startswith("PBEM_DKIM_DOMAIN: only games.example.org, or a parent of it")


def test_a_language_without_a_readable_catalogue_is_refused_at_the_start(folder: Path) -> None:
    assert read({"PBEM_LANGUAGE": "en", "PBEM_CATALOGUES": "nowhere"}).language == "en"
    assert problems(PBEM_LANGUAGE="German") == ["PBEM_LANGUAGE: “German” is not a language tag, like de or pt-BR."]
    assert problems(PBEM_LANGUAGE="de") == [
        "PBEM_LANGUAGE: there is no catalogue for de. Name the folder of the catalogues in PBEM_CATALOGUES."
    ]
    file = folder / "pt_BR" / "LC_MESSAGES" / "pbem.mo"
    missing = f"PBEM_LANGUAGE: {file} cannot be read: No such file or directory. Correct PBEM_CATALOGUES, or compile"
    for written in ("pt-BR", "pt_BR"):
        (found,) = problems(PBEM_LANGUAGE=written, PBEM_CATALOGUES=str(folder))
        assert found.startswith(missing)
    file.parent.mkdir(parents=True)
    for torn in (b"", b"nonsense", b"\xde\x12\x04\x95" + bytes(3), b"\xde\x12\x04\x95" + b"\x01" * 40):
        file.write_bytes(torn)
        (found,) = problems(PBEM_LANGUAGE="pt-BR", PBEM_CATALOGUES=str(folder))
        assert str(file) in found

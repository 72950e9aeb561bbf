"""Real mail software on loopback: the world into which a server's emails go, and from which replies come.

    pbem ----> relay door --signed by OpenDKIM-->  MX door  ----> Dovecot: anyone@example.net, read by IMAP
    reader --> submission door --signed-------->  MX door  ----> pbem's own LMTP port: play.example.org

The MX door checks SPF, DKIM and DMARC (OpenDKIM and OpenDMARC as milters) against its own DNS (dnsmasq) and adds the results
as `play.example.org`. Strangers come to the MX door directly, from any address: a forger, or `evil.example`. Emails to
`bounce.example` are refused after they were accepted, and emails to `slow.example` are delayed; both are reported to the
envelope sender. The configurations are in `etc/`, but what the handbook says about Postfix is taken from there.

Everything is in its own folder, on free ports, and `Rig.stop` ends each process by its id. It needs root, as every mail
server does: for the accounts of mailboxes, and for an /etc/resolv.conf that only these programs see. This module must never
touch a file or a service of the machine.
"""

import os
import re
import shutil
import signal
import smtplib
import socket
import subprocess
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from email.message import Message
from functools import partial
from pathlib import Path
from random import SystemRandom

from pbem import paths
from tests.handbook.test_running import with_what_is_here
from tests.mail_rig.mailbox import Mailbox
from tests.ports import free_port
from tests.waiting import PATIENCE, until

ETC = Path(__file__).with_name("etc")
SITE_DOMAIN, READER_DOMAIN, OTHER_DOMAIN = "play.example.org", "example.net", "other.example.org"
PASSWORD = "test"
RELAY, STRANGER = "192.0.2.10", "203.0.113.66"
"""Where our relay, and where evil.example sends from, as the DNS says."""

_PORTS = (
    "relay",
    "submission",
    "mx",
    "elsewhere",
    "opendkim",
    "opendmarc",
    "imap",
    "dovecot_lmtp",
    "pbem_lmtp",
    "other_lmtp",
)


class Rig:
    """The whole rig, from `start` to `stop`."""

    def __init__(self) -> None:
        # Postfix and Dovecot read it under their own accounts, so it cannot be one of pytest's.
        self.folder = Path(tempfile.mkdtemp(prefix="pbem-mail-rig-"))
        self.folder.chmod(0o755)
        self.ports = {name: free_port() for name in _PORTS}
        self.lmtp = {SITE_DOMAIN: self.ports["pbem_lmtp"], OTHER_DOMAIN: self.ports["other_lmtp"]}
        # Name servers are queried on port 53 only, so we look for a free address instead.
        luck = SystemRandom()
        self.dns = f"127.{luck.randint(1, 250)}.{luck.randint(1, 250)}.{luck.randint(2, 250)}"
        self._ends = ExitStack()
        self._programs: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Start everything, and wait until it listens."""
        try:
            self._write()
            self._run("dnsmasq", "dnsmasq", "-C", str(self.folder / "dnsmasq.conf"))
            self._run("opendkim", "opendkim", "-f", "-x", str(self.folder / "opendkim.conf"))
            self._run("opendmarc", "opendmarc", "-f", "-c", str(self.folder / "opendmarc.conf"))
            self._run("dovecot", "dovecot", "-F", "-c", str(self.folder / "dovecot.conf"))
            self._run("postfix", "postfix", "-c", str(self.folder / "postfix"), "start-fg")
            for name in ("opendkim", "opendmarc", "imap", "dovecot_lmtp", "relay", "submission", "mx"):
                until(partial(_listens, self.ports[name]), f"{name} listens")
        except BaseException as broken:
            broken.add_note(self._output_tails())
            self.stop()
            raise

    def stop(self) -> None:
        """End all processes, the last first, and remove everything."""
        self._ends.close()
        shutil.rmtree(self.folder)

    def mailbox(self, name: str) -> Mailbox:
        """The mailbox of a person at example.net."""
        return Mailbox(self.ports["imap"], name, PASSWORD)

    def away(self, name: str, notice: str = "I am away until Monday.") -> None:
        """Let a mailbox answer every email with an away notice."""
        home = self.folder / "mail" / name
        home.mkdir(exist_ok=True)
        script = home / ".dovecot.sieve"
        script.write_text(f'require "vacation"; vacation :days 1 :addresses ["{name}@{READER_DOMAIN}"] "{notice}";\n')
        for each in (home, script):
            shutil.chown(each, "postfix", "postfix")

    def submit(self, message: Message, sender: str, recipient: str) -> None:
        """Send an email as a customer of example.net's provider, who signs it."""
        self._send("submission", message, sender, recipient)

    def come_from_outside(self, message: Message, sender: str, recipient: str, address: str = STRANGER) -> None:
        """Deliver an email to the MX door from another address."""
        self._send("mx", message, sender, recipient, f"ADDR={address} NAME=[UNAVAILABLE]")

    @contextmanager
    def postfix_with(self, file: str, old: str, new: str) -> Iterator[None]:
        """Postfix with another text in one of its configuration files, for a while."""
        path = self.folder / "postfix" / file
        before = path.read_text()
        assert old in before
        self._reload(path, before.replace(old, new))
        try:
            yield
        finally:
            self._reload(path, before)

    def _reload(self, path: Path, text: str) -> None:
        (master,) = _children(self._programs["postfix"].pid)
        before = _children(master)
        path.write_text(text)
        # Its own command would signal the number that its first process has in another namespace.
        os.kill(master, signal.SIGHUP)
        # It reads the file and then ends its children, the queue manager too, which nothing else ends. Its log may miss
        # that: what writes the log is among them.
        until(lambda: not {*before} & {*_children(master)}, "everything that read it before has ended")

    def forget(self) -> None:
        """Delete all queued emails."""
        env = os.environ | {"PATH": _PATH}
        command = ["postsuper", "-c", str(self.folder / "postfix"), "-d", "ALL"]

        def forgotten() -> bool:
            # It fails on an email that is delivered at the same moment.
            return subprocess.run(command, check=False, capture_output=True, env=env).returncode == 0

        until(forgotten, "no mail is under way")

    def log(self, since: int = 0) -> str:
        """Postfix's log, from this character on."""
        return (self.folder / "postfix.log").read_text()[since:]

    def _send(self, door: str, message: Message, sender: str, recipient: str, client: str = "") -> None:
        with smtplib.SMTP("127.0.0.1", self.ports[door], timeout=PATIENCE) as server:
            if client:
                server.ehlo()
                code, answer = server.docmd("XCLIENT", client)
                assert code == 220, answer
                server.ehlo()
            server.sendmail(sender, [recipient], message.as_bytes())

    def _write(self) -> None:
        """Write all configuration files, with folder, ports and keys filled in."""
        for name in ("postfix/queue", "postfix/data", "dovecot", "mail", "opendkim", "opendmarc"):
            (self.folder / name).mkdir(parents=True)
        for name in ("postfix/data", "mail"):
            shutil.chown(self.folder / name, "postfix")
        known = {name: str(port) for name, port in self.ports.items()}
        of_page = self._handbook()
        known["handbook"] = of_page.pop("main.cf")
        for name, text in of_page.items():
            (self.folder / "postfix" / name).write_text(text)
        known |= {"folder": str(self.folder), "dns": self.dns, "password": PASSWORD}
        known |= {"our_key": self._key(SITE_DOMAIN, "ours"), "their_key": self._key(READER_DOMAIN, "theirs")}
        for file in ETC.iterdir():
            inside = "postfix" if file.name.endswith(".cf") else "."
            text = re.sub(r"@(\w+)@", lambda found: known[found[1]], file.read_text())
            (self.folder / inside / file.name).write_text(text)
        shutil.copy("/etc/postfix/dynamicmaps.cf", self.folder / "postfix")
        signing, keys = self.folder / "opendkim" / "signing", self.folder / "opendkim" / "keys"
        signing.write_text(f"*@{SITE_DOMAIN} ours\n*@{READER_DOMAIN} theirs\n")
        keys.write_text("".join(
            f"{name} {domain}:{name}:{self.folder / 'opendkim' / name}.private\n"
            for name, domain in (("ours", SITE_DOMAIN), ("theirs", READER_DOMAIN))
        ))  # fmt: skip
        (self.folder / "opendkim" / "internal").write_text("127.0.0.1\n")
        (self.folder / "opendmarc" / "ignored").write_text("192.0.2.1\n")
        (self.folder / "resolv.conf").write_text(f"nameserver {self.dns}\n")

    def _handbook(self) -> dict[str, str]:
        """Postfix's files as the handbook has them, by their names, with the places of this rig in them."""
        page = (paths.handbook() / "receiving-mail.md").read_text(encoding="utf-8")
        found = re.findall(r"^In `(?:/etc/postfix/)?(\w\S+)`,.*:\n\n((?: {4}.+\n)+)", page, re.MULTILINE)
        files = {name: textwrap.dedent(text) for name, text in found}
        assert files.keys() == {"main.cf", "pbem_recipients", "pbem_headers"}
        domains, names = f"{SITE_DOMAIN}, {OTHER_DOMAIN}, bounce.example, slow.example", r"(play|other)\.example\.org"
        ports = self.ports | {"slow": 9}
        routes = (
            (SITE_DOMAIN, "lmtp:inet:127.0.0.1", "pbem_lmtp"),
            (OTHER_DOMAIN, "lmtp:inet:127.0.0.1", "other_lmtp"),
            ("bounce.example", "smtp:[127.0.0.1]", "elsewhere"),
            ("slow.example", "lmtp:inet:127.0.0.1", "slow"),
        )
        transports = ", ".join(f"{{ {domain} = {way}:{ports[port]} }}" for domain, way, port in routes)
        places = {
            "relay_domains = games.example.org": f"relay_domains = {domains}",
            "inline:{ games.example.org=lmtp:inet:127.0.0.1:8024 }": f"inline:{{ {transports} }}",
            "/etc/postfix/": f"{self.folder}/postfix/",
            "unix:opendkim/opendkim.sock": f"inet:127.0.0.1:{ports['opendkim']}",
            "unix:opendmarc/opendmarc.sock": f"inet:127.0.0.1:{ports['opendmarc']}",
            # What waits is tried again soon: no test waits for minutes.
            "minimal_backoff_time = 120s": "minimal_backoff_time = 1s",
            "maximal_backoff_time = 240s": "maximal_backoff_time = 2s",
            "queue_run_delay = 120s": "queue_run_delay = 1s",
        }
        files["main.cf"] = with_what_is_here(files["main.cf"], places)
        recipients = with_what_is_here(files["pbem_recipients"], {r"games\.example\.org": names})
        files["pbem_recipients"] = recipients + r"/@(bounce|slow)\.example$/ ok" + "\n"
        return files

    def _key(self, domain: str, selector: str) -> str:
        """Make a key, and return its public half in dnsmasq's form."""
        folder = self.folder / "opendkim"
        subprocess.run(
            ["opendkim-genkey", "-b", "2048", "-D", str(folder), "-d", domain, "-s", selector],
            check=True, env=os.environ | {"PATH": _PATH},
        )  # fmt: skip
        (folder / f"{selector}.private").chmod(0o644)
        return ",".join(re.findall(r'"[^"]*"', (folder / f"{selector}.txt").read_text()))

    def _output_tails(self) -> str:
        """The last lines of all programs."""
        logs = sorted({*self.folder.glob("*.out"), *self.folder.glob("*.log")})
        return "\n".join(f"{log.name}: {log.read_text(errors='replace')[-2000:]}" for log in logs)

    def _run(self, name: str, *command: str) -> None:
        """Start a program with our name server, in a namespace that ends all its children with it, and all of it with us."""
        seen = f'mount --bind {self.folder}/resolv.conf /etc/resolv.conf && exec "$@"'
        with (self.folder / f"{name}.out").open("wb") as out:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--kill-child",
                 "sh", "-c", seen, "sh", *command],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, cwd=self.folder,
                env=os.environ | {"PATH": _PATH}, start_new_session=True,
            )  # fmt: skip
        self._programs[name] = process
        self._ends.callback(_end, process)


_PATH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin"))


def _listens(port: int) -> bool:
    # It does not listen yet.
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def _end(process: "subprocess.Popen[bytes]") -> None:
    # Nothing in there is worth saving, and the first process of a namespace takes all others with it.
    for each in _children(process.pid):
        os.kill(each, signal.SIGKILL)
    process.wait(PATIENCE)


def _children(process: int) -> list[int]:
    """The processes that it started; of one that we started, the program itself, first in its namespace."""
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]

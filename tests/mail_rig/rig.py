"""The world that a server's mails go out into and come back from, on this machine alone: real mail software on loopback.

    pbem ----> relay door --signed by OpenDKIM-->  MX door  ----> Dovecot: anybody@example.net, read by IMAP
    reader --> submission door --signed-------->  MX door  ----> pbem's own LMTP port: play.example.org

The MX door checks SPF, DKIM and DMARC (OpenDKIM and OpenDMARC as milters) against a DNS of our own (dnsmasq) and stamps
what it found as `play.example.org`. Strangers come to the MX door themselves, and say from which address they come: a
forger, or `evil.example`. Mails to `bounce.example` are refused after they were taken, mails to `slow.example` wait;
both are told of to the envelope sender. How the programs are set up is in `etc/`.

Everything lives in a folder of its own, on ports that are free, and ends by its number with `Rig.stop`. It needs root,
as every mail server does: for other accounts' mailboxes, and for a /etc/resolv.conf that only these programs see. This
module must never touch a file or a service of the machine.
"""

import os
import re
import shutil
import signal
import smtplib
import socket
import subprocess
import tempfile
from contextlib import ExitStack, suppress
from email.message import Message
from functools import partial
from pathlib import Path
from random import SystemRandom

from tests.mail_rig.mailbox import Mailbox
from tests.ports import free_port
from tests.waiting import PATIENCE, until

ETC = Path(__file__).with_name("etc")
OURS, THEIRS, OTHERS = "play.example.org", "example.net", "other.example.org"
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
    """All of it, from `start` to `stop`."""

    def __init__(self) -> None:
        # Postfix and Dovecot look into it under accounts of their own, so it cannot be one of pytest's.
        self.folder = Path(tempfile.mkdtemp(prefix="pbem-mail-rig-"))
        self.folder.chmod(0o755)
        self.ports = {name: free_port() for name in _PORTS}
        self.lmtp = {OURS: self.ports["pbem_lmtp"], OTHERS: self.ports["other_lmtp"]}
        # A name server is asked on port 53 and on no other, so that what is free is an address.
        luck = SystemRandom()
        self.dns = f"127.{luck.randint(1, 250)}.{luck.randint(1, 250)}.{luck.randint(2, 250)}"
        self._ends = ExitStack()

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
            broken.add_note(self._what_they_said())
            self.stop()
            raise

    def stop(self) -> None:
        """End what was started, the last first, and leave nothing."""
        self._ends.close()
        shutil.rmtree(self.folder)

    def mailbox(self, name: str) -> Mailbox:
        """The mailbox of somebody at example.net."""
        return Mailbox(self.ports["imap"], name, PASSWORD)

    def away(self, name: str, notice: str = "I am away until Monday.") -> None:
        """Let somebody's mailbox answer every mail with a notice."""
        home = self.folder / "mail" / name
        home.mkdir(exist_ok=True)
        script = home / ".dovecot.sieve"
        script.write_text(f'require "vacation"; vacation :days 1 :addresses ["{name}@{THEIRS}"] "{notice}";\n')
        for each in (home, script):
            shutil.chown(each, "postfix", "postfix")

    def submit(self, message: Message, sender: str, recipient: str) -> None:
        """Send a mail as a customer of example.net's provider, who signs it."""
        self._send("submission", message, sender, recipient)

    def come_from_outside(self, message: Message, sender: str, recipient: str, address: str = STRANGER) -> None:
        """Bring a mail to the MX door from somewhere else in the world."""
        self._send("mx", message, sender, recipient, f"ADDR={address} NAME=[UNAVAILABLE]")

    def forget(self) -> None:
        """Throw away all mails that are under way."""
        env = os.environ | {"PATH": _PATH}
        command = ["postsuper", "-c", str(self.folder / "postfix"), "-d", "ALL"]

        def forgotten() -> bool:
            # It stumbles over a mail that is delivered in the same moment.
            return subprocess.run(command, check=False, capture_output=True, env=env).returncode == 0

        until(forgotten, "no mail is under way")

    def log(self, since: int = 0) -> str:
        """What Postfix has written down, from this character on."""
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
        """All files, with our folder, ports and keys in their places."""
        for name in ("postfix/queue", "postfix/data", "dovecot", "mail", "opendkim", "opendmarc"):
            (self.folder / name).mkdir(parents=True)
        for name in ("postfix/data", "mail"):
            shutil.chown(self.folder / name, "postfix")
        known = {name: str(port) for name, port in self.ports.items()}
        known |= {"folder": str(self.folder), "dns": self.dns, "password": PASSWORD}
        known |= {"our_key": self._key(OURS, "ours"), "their_key": self._key(THEIRS, "theirs")}
        for file in ETC.iterdir():
            inside = "postfix" if file.name.endswith(".cf") or file.name == "recipients" else "."
            text = re.sub(r"@(\w+)@", lambda found: known[found[1]], file.read_text())
            (self.folder / inside / file.name).write_text(text)
        shutil.copy("/etc/postfix/dynamicmaps.cf", self.folder / "postfix")
        signing, keys = self.folder / "opendkim" / "signing", self.folder / "opendkim" / "keys"
        signing.write_text(f"*@{OURS} ours\n*@{THEIRS} theirs\n")
        keys.write_text("".join(
            f"{name} {domain}:{name}:{self.folder / 'opendkim' / name}.private\n"
            for name, domain in (("ours", OURS), ("theirs", THEIRS))
        ))  # fmt: skip
        (self.folder / "opendkim" / "internal").write_text("127.0.0.1\n")
        (self.folder / "opendmarc" / "ignored").write_text("192.0.2.1\n")
        (self.folder / "resolv.conf").write_text(f"nameserver {self.dns}\n")

    def _key(self, domain: str, selector: str) -> str:
        """Make a key; its public half as dnsmasq wants it."""
        folder = self.folder / "opendkim"
        subprocess.run(
            ["opendkim-genkey", "-b", "2048", "-D", str(folder), "-d", domain, "-s", selector],
            check=True, env=os.environ | {"PATH": _PATH},
        )  # fmt: skip
        (folder / f"{selector}.private").chmod(0o644)
        return ",".join(re.findall(r'"[^"]*"', (folder / f"{selector}.txt").read_text()))

    def _what_they_said(self) -> str:
        """The ends of all that the programs have written."""
        logs = sorted({*self.folder.glob("*.out"), *self.folder.glob("*.log")})
        return "\n".join(f"{log.name}: {log.read_text(errors='replace')[-2000:]}" for log in logs)

    def _run(self, name: str, *command: str) -> None:
        """Start one program where it sees our name server and no other, and where none of its children outlives it."""
        seen = f'mount --bind {self.folder}/resolv.conf /etc/resolv.conf && exec "$@"'
        with (self.folder / f"{name}.out").open("wb") as out:
            process = subprocess.Popen(
                ["unshare", "--mount", "--pid", "--fork", "sh", "-c", seen, "sh", *command],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, cwd=self.folder,
                env=os.environ | {"PATH": _PATH}, start_new_session=True,
            )  # fmt: skip
        self._ends.callback(_end, process)


_PATH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin"))


def _listens(port: int) -> bool:
    # Nobody is there yet.
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def _end(process: "subprocess.Popen[bytes]") -> None:
    # Nothing in there is worth saving, and with the first process of a room all of it are gone.
    for each in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        os.kill(int(each), signal.SIGKILL)
    process.wait(PATIENCE)

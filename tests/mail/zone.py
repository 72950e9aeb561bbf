"""A DNS server on this machine with the records of a test and no others."""

import socketserver
import threading

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset


class Zone:
    """The running server. `records` are by name and kind, as in a zone file."""

    def __init__(self, records: dict[tuple[str, str], list[str]]) -> None:
        self.records = records
        self.is_silent = False
        zone = self

        class Answering(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                if not zone.is_silent:
                    data, client = self.request
                    client.sendto(zone.answer(data), self.client_address)

        self._server = socketserver.ThreadingUDPServer(("127.0.0.1", 0), Answering)

    def __enter__(self) -> "Zone":
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def server(self) -> str:
        """The address of the server."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    def answer(self, data: bytes) -> bytes:
        """The answer to one query."""
        asked = dns.message.from_wire(data)
        (question,) = asked.question
        name, kind = question.name.to_text(omit_final_dot=True).lower(), dns.rdatatype.to_text(question.rdtype)
        answer = dns.message.make_response(asked)
        answer.flags |= dns.flags.RA
        found = self.records.get((name, kind), [])
        if found:
            answer.answer.append(dns.rrset.from_text(question.name, 60, "IN", kind, *found))
        elif not any(name == known for known, _ in self.records):
            answer.set_rcode(dns.rcode.NXDOMAIN)
        return answer.to_wire()

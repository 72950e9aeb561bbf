"""Metrics for Prometheus: present numbers of the database, and counters of processes.

Database numbers are the same in every process. Processes that share a port share files of counters and report the sum.
"""

import os
from collections.abc import Iterator
from datetime import timedelta
from importlib.metadata import version
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from pbem import metrics
from pbem.config.settings import Config
from pbem.domain.errors import PbemError
from pbem.ops.monitoring.readiness import free_bytes
from pbem.service.server import Server
from pbem.store import gauges
from pbem.store.database_errors import explained
from pbem.store.gauges import Figures

ALIVE: Final = timedelta(minutes=1)
"""A worker not seen for this long is gone: it beats every five seconds."""


def exposition(server: Server, config: Config) -> bytes:
    """All metrics, in the text format of Prometheus."""
    # The name is the library's: `pbem.ops.gunicorn` sets it.
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # it says no types
        return generate_latest(registry) + generate_latest(_database_numbers(server, config))
    return b"".join(generate_latest(each) for each in (metrics.REGISTRY, _PROCESS, _database_numbers(server, config)))


_PROCESS: Final = CollectorRegistry()
ProcessCollector(registry=_PROCESS)


def _database_numbers(server: Server, config: Config) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(_DatabaseNumbers(server, config))
    return registry


class _DatabaseNumbers(Collector):
    """Numbers of the database, read when they are collected."""

    def __init__(self, server: Server, config: Config) -> None:
        self._server, self._config = server, config

    def describe(self) -> list[GaugeMetricFamily]:
        """Nothing, so that registering reads no database."""
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The present numbers; without a database, that it is down."""
        database = "sqlite" if self._server.store.on_sqlite else "postgresql"
        info = GaugeMetricFamily("pbem_info", "What runs here.", labels=("version", "database"))
        info.add_metric((version("pbem"), database), 1)
        yield info
        yield GaugeMetricFamily("pbem_disk_free_bytes", "Free disk space at the data folder.", free_bytes(self._config))
        now = self._server.now()
        try:
            with explained(), self._server.store.read() as tx:
                found = gauges.read(tx, now, now - ALIVE)
        except PbemError:
            yield GaugeMetricFamily("pbem_database_up", "Whether the database answers.", 0)
            return
        yield GaugeMetricFamily("pbem_database_up", "Whether the database answers.", 1)
        yield from _families(found, now.timestamp())


def _families(found: Figures, now: float) -> Iterator[GaugeMetricFamily]:
    for name, says, counted in (
        ("pbem_games", "Tables, by status.", found.games),
        ("pbem_emails_waiting", "Emails that haven't left, by reason.", found.emails),
        ("pbem_received_emails_waiting", "Incoming emails not dealt with, by reason.", found.received),
    ):
        family = GaugeMetricFamily(name, says, labels=("status",))
        for status, number in counted.items():
            family.add_metric((status,), number)
        yield family
    for name, says, number in (
        ("pbem_deadlines_open", "Seats with an open turn.", found.open_deadlines),
        ("pbem_deadlines_overdue", "Turns whose clock has run out and that nobody has decided.", found.overdue),
        ("pbem_deadlines_parked", "Turns that couldn't be timed out, after ten tries.", found.parked_deadlines),
        ("pbem_calls_open", "Messages waiting for the organiser.", found.calls),
        ("pbem_people_unreachable", "People whose address accepts no email.", found.unreachable),
        ("pbem_workers", "Workers seen in the last minute.", found.workers),
    ):
        yield GaugeMetricFamily(name, says, number)
    for name, says, since in (
        ("pbem_email_oldest_seconds", "Age of the oldest email that could have left.", found.oldest_email),
        ("pbem_deadline_oldest_seconds", "How long the oldest overdue turn has been overdue.", found.oldest_overdue),
    ):
        yield GaugeMetricFamily(name, says, 0 if since is None else max(0.0, now - since.timestamp()))
    if found.last_beat is not None:
        says = "When a worker was last seen."
        yield GaugeMetricFamily("pbem_worker_beat_timestamp_seconds", says, found.last_beat.timestamp())

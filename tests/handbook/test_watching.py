"""The page about watching a server, its dashboard and its alert rules know every metric, and none that is not there."""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Counter, Histogram, Summary

from pbem import metrics, paths
from pbem.config import read
from pbem.ops.monitoring.prometheus import exposition
from pbem.ops.setup import make_ready, open_store, server_on
from pbem.service.clocks.outages import Worker, beat

PAGE = (paths.handbook() / "metrics.md").read_text(encoding="utf-8")
RULES = paths.handbook() / "alerts.yml"
DASHBOARD = paths.handbook() / "grafana.json"


@pytest.fixture(scope="module")
def metrics_of_server(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Every metric of a server that has begun to work, with its labels."""
    config = make_ready(read({"PBEM_DATA_DIR": str(tmp_path_factory.mktemp("server"))}))
    with open_store(config) as store:
        server = server_on(store, config)
        server.run(beat, Worker("first", server.now()))
        text = exposition(server, config).decode()
    found: dict[str, set[str]] = {name: set() for name in re.findall(r"^# TYPE (\S+)", text, re.MULTILINE)}
    for name, labels in re.findall(r"^(\w+)\{(.*)\} ", text, re.MULTILINE):
        if name in found:
            found[name] |= set(re.findall(r'(\w+)="', labels))
    for each in counted(metrics.REGISTRY):
        name = each._name + ("_total" if isinstance(each, Counter) else "")
        found[name] = set(each._labelnames)
    return found


def counted(registry: CollectorRegistry) -> Iterator[Counter | Histogram | Summary]:
    yield from (each for each in registry._collector_to_names if isinstance(each, (Counter, Histogram, Summary)))


def in_the_page() -> dict[str, set[str]]:
    rows = re.findall(r"^\| `(pbem_\w+)(?:\{([\w,]*)\})?` \|", PAGE, re.MULTILINE)
    return {name: set(filter(None, labels.split(","))) for name, labels in rows}


def expressions(value: Any, key: str = "") -> Iterator[str]:
    """All queries of a dashboard."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from expressions(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from expressions(inner)
    elif key == "expr":
        yield str(value)


def used(query: str) -> set[str]:
    """The metrics in a query, a part of a histogram by the name of the whole."""
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"\b(?:pbem|process)_\w+", query)}


def test_every_metric_is_in_the_handbook_with_its_labels(metrics_of_server: dict[str, set[str]]) -> None:
    assert in_the_page() == {name: labels for name, labels in metrics_of_server.items() if name.startswith("pbem_")}
    assert any(name.startswith("process_") for name in metrics_of_server)
    assert "`process_…`" in PAGE


def test_no_label_can_hold_a_person_a_table_or_an_address(metrics_of_server: dict[str, set[str]]) -> None:
    known = {"route", "method", "status", "kind", "by", "outcome", "tick", "version", "database", "le"}
    assert set().union(*metrics_of_server.values()) <= known


@pytest.mark.parametrize("file", [RULES, DASHBOARD], ids=lambda file: file.name)
def test_rules_and_dashboard_ask_for_metrics_that_are_there(file: Any, metrics_of_server: dict[str, set[str]]) -> None:
    text = file.read_text(encoding="utf-8")
    queries = list(expressions(json.loads(text))) if file is DASHBOARD else re.findall(r"expr: (.*)", text)
    assert len(queries) > 10
    for query in queries:
        assert used(query) <= metrics_of_server.keys()
        for name, labels in re.findall(r"((?:pbem|process)_\w+)\{([^}]*)\}", query):
            # The job is Prometheus' own, which every metric has.
            assert set(re.findall(r'(\w+)=~?"', labels)) <= metrics_of_server[name.removesuffix("_bucket")] | {"job"}


def test_panels_of_the_dashboard_have_titles_and_do_not_overlap() -> None:
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    assert len({panel["id"] for panel in panels}) == len({panel["title"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


def test_every_alert_says_what_is_wrong_and_what_to_do() -> None:
    alerts = RULES.read_text(encoding="utf-8").split("- alert:")[1:]
    assert len(alerts) > 10
    for alert in alerts:
        assert re.search(r"severity: (page|ticket)\}", alert)
        assert re.search(r"summary: .+\.", alert)
        assert re.search(r"action: .+\.", alert)


@pytest.mark.needs("promtool")
def test_prometheus_takes_the_rules(tool: Callable[[str], str]) -> None:
    checked = subprocess.run(
        [tool("promtool"), "check", "rules", str(RULES)], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


# What each series is in good times and in bad ones, step by step; it grows where there is a plus.
SERIES = {
    'up{job="pbem"}': ("1", "0"),
    "pbem_database_up": ("1", "0"),
    "pbem_workers": ("2", "0"),
    "pbem_email_oldest_seconds": ("60", "1000"),
    'pbem_emails_waiting{status="parked"}': ("0", "1"),
    'pbem_emails_waiting{status="queued"}': ("50", "50"),
    'pbem_received_emails_waiting{status="parked"}': ("0", "1"),
    "pbem_deadline_oldest_seconds": ("30", "3600"),
    "pbem_deadlines_parked": ("0", "1"),
    'pbem_games{status="frozen"}': ("0", "1"),
    'pbem_games{status="playing"}': ("50", "50"),
    'pbem_requests_total{route="/",method="GET",status="200"}': ("0+100", "0+100"),
    'pbem_requests_total{route="/",method="GET",status="500"}': ("0", "0+10"),
    'pbem_request_seconds_bucket{route="/",le="0.1"}': ("0+100", "0+90"),
    'pbem_request_seconds_bucket{route="/",le="2.5"}': ("0+100", "0+100"),
    'pbem_request_seconds_bucket{route="/",le="+Inf"}': ("0+100", "0+100"),
    'pbem_tick_failures_total{tick="deliver"}': ("0", "0+10"),
    "pbem_disk_free_bytes": ("5000000000", "500000000"),
    "pbem_calls_open": ("0", "1"),
}
STEP, STEPS = "5m", 25 * 12
"""A day and an hour."""


@pytest.mark.needs("promtool")
@pytest.mark.parametrize("bad", [False, True], ids=["in good times", "in bad times"])
def test_alerts_are_silent_in_good_times_and_each_fires_in_bad_ones(
    bad: bool, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    alerts = re.findall(r"- alert: (\w+)", RULES.read_text(encoding="utf-8"))
    lived = [
        {"series": name, "values": f"{values[bad]}{'' if '+' in values[bad] else '+0'}x{STEPS}"}
        for name, values in SERIES.items()
    ]
    firing = {
        "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
        "eval_time": "25h",
        "exp_samples": [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in alerts if bad],
    }
    test = {"interval": STEP, "input_series": lived, "promql_expr_test": [firing]}
    # JSON is YAML as well.
    script = tmp_path / "test.yml"
    script.write_text(json.dumps({"rule_files": [str(RULES)], "evaluation_interval": STEP, "tests": [test]}))
    lasted = subprocess.run(
        [tool("promtool"), "test", "rules", str(script)], capture_output=True, text=True, check=False
    )
    assert lasted.returncode == 0, lasted.stdout + lasted.stderr


def test_the_events_that_the_page_names_are_there() -> None:
    named = set(re.findall(r"`([a-z]+_[a-z]+)`", PAGE.split("## The log")[1])) | {"request_answered"}
    code = "".join(file.read_text(encoding="utf-8") for file in paths.handbook().parent.rglob("*.py"))
    assert len(named) > 5
    assert not [event for event in named if f'"{event}"' not in code]

"""The page that verifies the file of a game: sound files pass, changes are located, and no file does harm."""

import json
from pathlib import Path

import pytest
from lxml import html

from engine import codec
from pbem import child_process
from pbem.domain import hash_chain
from pbem.service.archive import export, verify_upload
from pbem.service.tables import leaving
from tests.web.browser import HOST, Page

pytestmark = pytest.mark.slow


@pytest.fixture
def database_url(sqlite_alone):
    """SQLite alone: verifying a file does not use the database."""
    return sqlite_alone


@pytest.fixture
def file(table):
    """The file of a finished game, in which a player added a word to the randomness."""
    game = table("sorcerous-futures", 3)
    for _ in game.play_defaults():
        pass
    return export.write(game.server.read(export.of_game, game.id))


def send(browser, data, field="file", to="/verify"):
    """Send a file, or its text, as the form does."""
    named = f'name="{field}"' + ('; filename="game.json"' if field == "file" else "")
    head = f"--between\r\nContent-Disposition: form-data; {named}\r\n\r\n"
    response = browser.client.post(
        to,
        data=head.encode() + data + b"\r\n--between--\r\n",
        content_type="multipart/form-data; boundary=between",
        headers=browser.says,
        base_url=HOST,
    )
    return Page(browser, response, to)


def test_a_downloaded_file_passes_and_its_luck_is_explained(browser, file):
    assert browser.open("/verify").form("Check").action == "/verify"
    page = send(browser, file.encode())
    assert (page.status, page.heading) == (200, "This file is intact")
    document = json.loads(file)
    last = [row["hash"] for row in document["log"] if row["kind"] == "Entry"][-1]
    assert f"has the hash {last[:20]}" in page.text
    assert document["chance"]["secret"] in page.text
    drawn = [json.loads(row["body"])["entry"]["drawn"] for row in document["log"] if row["kind"] == "Entry"]
    seats = document["game"]["seats"]
    assert page.text.count("Divided by") == sum(map(len, drawn)) + seats - 1
    for bound, number in drawn[0]:
        assert f"Divided by {bound}, it leaves a remainder of {number}." in page.text
    # The last line about the seats has the order drawn.
    assert page.text.count("The order is") == seats - 1
    assert f"The order is {', '.join(map(str, document['chance']['seating']))}." in page.text


def test_a_change_anywhere_in_a_file_is_found_and_located(browser, file):
    changed = json.loads(file)
    row = next(row for row in changed["log"] if row["kind"] == "Entry" and row["seq"] > 5)
    row["body"] = row["body"].replace('"gold":', '"gold" :', 1)
    page = send(browser, json.dumps(changed).encode(), "text")
    assert page.heading == "This isn't the game as it was played"
    assert f"The text of row {row['seq']}, its nonce or its hash was altered." in page.text
    assert f"Row {row['seq']}:" not in page.text


KINDS = ("The chain", "The facts", "The choices", "The luck", "The rest of the file", "Talk")


def test_the_page_says_what_became_of_a_sealed_choice(browser):
    text = (Path(__file__).parents[2] / "ops" / "game_files" / "sunset-poker-version-2.json").read_text(
        encoding="utf-8"
    )
    first = next(row["body_hash"] for row in json.loads(text)["log"] if row["kind"] == "Sealed")

    def asked(fingerprint):
        field = f'--between\r\nContent-Disposition: form-data; name="sealed"\r\n\r\n{fingerprint}\r\n'
        return browser.client.post(
            "/verify",
            data=f'{field}--between\r\nContent-Disposition: form-data; name="file"; filename="game.json"\r\n\r\n{text}'.encode()
            + b"\r\n--between--\r\n",
            content_type="multipart/form-data; boundary=between",
            headers=browser.says,
            base_url=HOST,
        )

    page = Page(browser, asked(f"{first[:10].upper()} {first[10:30]}"), "/verify")
    assert (page.status, page.heading) == (200, "This file is intact")
    assert "Player 1 sealed it on turn 1, row 4. It was replaced in row" in page.text
    assert "No sealed choice has the fingerprint" in asked("0" * 64).get_data(as_text=True)
    refused = Page(browser, asked("--help"), "/verify")
    assert refused.status == 400
    assert "That isn't the hash of a sealed choice." in refused.text


def verdicts(page):
    """The verdict on each check, by the words for it."""
    found = {}
    for each in html.fromstring(page.source).xpath("//ul[@class='checks']/li"):
        words = " ".join(each.text_content().split())
        (kind,) = (kind for kind in KINDS if f"{kind}:" in words)
        found[kind] = words.partition(f" {kind}:")[0]
    assert list(found) == list(KINDS)
    return found


def test_every_check_of_a_sound_file_is_shown_as_passed(browser, file):
    page = send(browser, file.encode())
    assert verdicts(page) == dict.fromkeys(KINDS, "Passed")
    assert "Talk: none." in page.text


def test_only_the_check_that_failed_is_marked(browser, file):
    document = json.loads(file)
    document["log"][4]["at"] = "2030-01-01T00:00:00.000000Z"
    document["chance"]["words"][0] += "!"
    found = verdicts(send(browser, json.dumps(document).encode(), "text"))
    assert found == dict.fromkeys(KINDS, "Passed") | {"The chain": "Failed", "The rest of the file": "Failed"}


def test_checks_after_a_meaningless_row_are_not_shown_as_passed(browser, file):
    page = send(browser, forged(file, entry={"facts": [{"is": "Game"}]}))
    assert verdicts(page) == {
        "The chain": "Failed" if "breaks the chain" in page.text else "Passed",
        "The facts": "Failed",
        "The choices": "Not reached",
        "The luck": "Not reached",
        "The rest of the file": "Not reached",
        "Talk": "Passed",
    }


def test_luck_that_does_not_follow_from_the_seed_is_marked_however_much_else_is_wrong(browser, file):
    assert verdicts(send(browser, forged(file, began={"seating": [0, 0, 0]})))["The luck"] == "Failed"


@pytest.mark.parametrize("field", ["words", "seating"])
def test_a_beginning_with_something_else_for_a_list_is_named_as_a_fault(browser, file, field):
    for value in (True, 10**18, None):
        page = send(browser, forged(file, began={field: value}))
        assert (page.status, verdicts(page)["The facts"]) == (200, "Failed")


def test_rows_that_come_again_after_the_end_are_located(browser, file):
    rows = json.loads(file)["log"]
    for row in rows[:6]:
        page = send(browser, json.dumps(json.loads(file) | {"log": rows + [row] * 3}).encode())
        assert (page.status, page.heading) == (200, "This isn't the game as it was played")


def test_choices_under_other_rules_are_shown_as_not_repeated(browser, file):
    page = send(browser, forged(file, rules=99))
    assert verdicts(page) == dict.fromkeys(KINDS, "Passed") | {"The choices": "Not reached"}
    assert page.heading == "This file is intact"
    assert "The rules have changed since" in page.text


def test_a_game_without_a_result_is_checked_as_well(browser, table):
    game = table("bid", 3)
    for seat in range(3):
        game.server.run(leaving.agree_to_end, game.id, game.person_at(seat))
    page = send(browser, export.write(game.server.read(export.of_game, game.id)).encode())
    assert page.heading == "This file is intact"
    assert "ended without a result" in page.text


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"", 400),
        (b"{}", 400),
        (b"[" * 100_000, 400),
        (b"\xff\xfe\x00", 400),
        (b'{"format":"pbem-game","version":1}', 400),
        (b" " * (verify_upload.MOST_BYTES + 1), 400),
        (b" " * (verify_upload.MOST_BYTES + 2**18), 413),
    ],
    ids=["nothing", "empty", "deep", "no text", "torn", "too large", "much too large"],
)
def test_anything_but_a_game_file_is_refused_politely(browser, data, status):
    page = send(browser, data)
    assert page.status == status
    assert "Check a game file" in page.heading or status == 413


def forged(file, began=None, entry=None, rules=None):
    """A file with a sound chain, but with another beginning, other fields in its first entry, or other rules."""
    document = json.loads(file)
    head, log = hash_chain.genesis(document["game"]["key"]), []
    for row in export.read(file).log:
        body = json.loads(row.body)
        body |= (began or {}) if row.kind == "Began" else {}
        if entry and row.kind == "Entry" and body["turn"] == 0:
            body["entry"] |= entry
        columns = {name: getattr(row, name) for name in ("game", "seq", "kind", "seat", "by", "at", "rules", "nonce")}
        columns["rules"] = rules or row.rules
        # A text that says the same stays as it is: others name its hash.
        text = row.body if body == json.loads(row.body) else codec.dumps(body).encode()
        again = hash_chain.next_row(head, body=text, **columns)
        head = again.hash
        log.append(
            document["log"][row.seq - 1]
            | {
                "rules": again.rules,
                "body": again.body.decode(),
                "body_hash": again.body_hash.hex(),
                "hash": again.hash.hex(),
            }
        )
    document["game"]["rules"] = rules or document["game"]["rules"]
    return json.dumps(document | {"log": log, "head": head.hex()}).encode()


@pytest.mark.parametrize("seats", [0, -1, 100, 5 * 10**7, 10**12, 10**20])
def test_a_file_of_more_seats_than_any_table_is_refused_unread(browser, file, seats):
    document = json.loads(file)
    document["game"]["seats"], document["log"] = seats, []
    refused = send(browser, json.dumps(document).encode())
    assert refused.status == 400
    assert "It can't be read." in refused.text


def test_a_file_with_a_lone_surrogate_or_a_moment_before_all_time_is_refused(browser, file):
    document = json.loads(file)
    lone = document | {"chance": document["chance"] | {"words": ["\ud800"]}}
    early = document | {"log": [document["log"][0] | {"at": "0001-01-01T00:00:00+23:00"}]}
    assert [send(browser, json.dumps(each).encode()).status for each in (lone, early)] == [400, 400]


@pytest.mark.parametrize(
    "lie",
    [
        {"began": {"seats": 10**12}},
        {"began": {"options": {"x": 10**30}}},
        {"entry": {"drawn": [[2**70, 5]]}},
        {"entry": {"drawn": [[10**40, 5], [0, 0], [-3, 1]]}},
        {"entry": {"facts": [{"is": "Game"}]}},
    ],
    ids=str,
)
def test_a_malicious_file_is_refused_and_does_no_harm(browser, file, lie):
    page = send(browser, forged(file, **lie))
    assert page.status in (200, 400)
    assert page.heading != "This file is intact"


def test_a_file_that_takes_too_long_is_given_up(browser, file, monkeypatch):
    # As the system ends a process that had all its time.
    monkeypatch.setattr(child_process, "command", lambda *module: ["sh", "-c", "cat > /dev/null; kill -XCPU $$"])
    page = send(browser, file.encode())
    assert (page.status, "more time or memory" in page.text) == (400, True)
    assert "pbem verify FILE" in page.text


def test_a_machine_too_busy_to_check_a_file_says_so_and_blames_no_file(browser, file, monkeypatch):
    monkeypatch.setattr(verify_upload, "MOST_WAIT", 0.001)
    page = send(browser, file.encode())
    assert (page.status, "more time or memory" in page.text) == (429, False)
    assert "too busy to check it now" in page.text
    assert "says nothing about the file" in page.text


@pytest.mark.parametrize("kind", ["log", "talk"])
def test_a_file_with_more_rows_than_any_game_is_refused(browser, file, kind):
    document = json.loads(file)
    row = document["log"][-1]
    document[kind] = [row | {"seq": seq} for seq in range(1, verify_upload.MOST_ROWS + 2)]
    page = send(browser, json.dumps(document).encode())
    assert (page.status, "This file is too long." in page.text) == (400, True)
    assert "pbem verify FILE" in page.text


def test_a_file_whose_result_would_fill_a_page_is_refused(browser, file):
    document = json.loads(file)
    document["chance"]["words"] = ["<" * 1000] * 1000
    page = send(browser, json.dumps(document).encode())
    assert (page.status, "more time or memory" in page.text) == (400, True)
    assert len(page.source) < 10_000


END = b"\r\n\r\n{}\r\n--between--\r\n"


@pytest.mark.parametrize(
    "body",
    [
        b"--between\r\nContent-Disposition: form-data; " + b"a=b; " * 1000 + END,
        b"--between  \r\nContent-Disposition: form-data; name=text\r\n" + b"X: y\r\n" * 1000 + END,
        b"--between\nContent-Disposition: form-data; name=text\n" + b"X: y\n" * 1000 + END,
        b"--between\r\nContent-Disposition: form-data; name=text; a=" + b"x" * 5000,
        b"--between\r\nContent-Disposition: form-data; name=text\r\n\r\nx\r\n" * 60 + b"--between--",
        b"\r\n" * 5000 + b"--between\r\nContent-Disposition: form-data; name=text" + END,
    ],
    ids=["parameters", "headers", "headers with LF", "no end", "parts", "preamble"],
)
def test_more_around_a_file_than_browsers_write_is_refused_unread(browser, body):
    kind = "multipart/form-data; boundary=between"
    response = browser.client.post("/verify", data=body, content_type=kind, headers=browser.says, base_url=HOST)
    assert (response.status_code, b"add that much to a file" in response.data) == (400, True)


def test_only_a_form_with_a_file_may_be_as_long_as_one(browser):
    kind = "application/x-www-form-urlencoded"
    body = b"text=" + b"%41" * 30_000
    response = browser.client.post("/verify", data=body, content_type=kind, headers=browser.says, base_url=HOST)
    assert response.status_code == 413


def test_one_file_is_checked_at_a_time(browser, file):
    with verify_upload._ONE_AT_A_TIME:
        assert send(browser, file.encode()).status == 429
    assert send(browser, file.encode()).status == 200


def test_no_other_form_takes_files_and_no_other_site_can_send_one(browser, file):
    assert "isn't one of our forms" in send(browser, b"ann@example.org", field="address", to="/mine").text
    browser.says = browser.says | {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert send(browser, file.encode()).status == 403


def test_the_process_that_reads_the_file_does_not_get_the_settings(browser, file, monkeypatch):
    monkeypatch.setenv("PBEM_KEYS", "a secret")
    seen = {}
    run = verify_upload.subprocess.run

    def watched(*arguments, **more):
        seen.update(more["env"])
        return run(*arguments, **more)

    monkeypatch.setattr(verify_upload.subprocess, "run", watched)
    assert send(browser, file.encode()).status == 200
    assert seen.keys() == {"PYTHONPATH"}

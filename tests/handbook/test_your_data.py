"""The table of what is public: each row has the tests that hold it."""

import re

from tests.handbook.named import ROOT, page, rows

HELD = {
    "your address": "tests/twins/test_addresses.py::test_nobody_else_sees_an_address",
    "a private table": "tests/web/public/test_hall.py::test_a_private_table_is_in_no_list_and_leads_to_none",
    "a public table": "tests/twins/test_twins.py::test_twins_in_a_secret_look_the_same",
    "turns on time, games finished and left, beside your name at an open public table": "tests/web/tables/test_lobby.py::test_players_of_a_waiting_table_are_shown_with_their_reliability",
    "your ratings": "tests/web/people/test_my_ratings.py::test_one_who_hides_their_ratings_looks_like_one_who_has_none",
    "your profile": "tests/web/public/test_profiles.py::test_a_profile_that_may_not_be_seen_is_the_page_of_none",
    "turns on time on your profile": "tests/web/public/test_profiles.py::test_ratings_and_turns_on_time_are_shown_only_by_choice",
    "a tournament of a group": "tests/service/tournaments/test_admission.py::test_a_tournament_of_a_group_is_for_its_members_alone",
    "a tournament": "tests/twins/test_addresses.py::test_nobody_else_sees_an_address",
    "a game's statistics": "tests/web/public/test_profiles.py::test_lists_and_statistics_are_the_same_whether_or_not_someone_has_a_profile_one_may_not_see",
    "open data": "tests/web/api/test_open_data.py::test_a_private_table_is_as_if_it_were_not_there",
}
"""A test for each row of the table, by the beginning of the row."""


def test_each_row_of_what_is_public_has_a_test_that_exists():
    assert [what.partition(":")[0] for what, _seen in rows(page("your-data"), "What is public")] == [*HELD]
    for test in HELD.values():
        file, _, name = test.partition("::")
        assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), test

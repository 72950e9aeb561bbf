"""The suite's own promises: no test is skipped silently, slices change, and no test leaves this machine."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import pytest_socket

from tests import conftest
from tests.ports import free_port

_CONFTEST = Path(__file__).with_name("conftest.py").read_text(encoding="utf-8")

_ONE_OF_EACH_SKIP = """
    import unittest
    import pytest

    @pytest.mark.needs("no-such-program")
    def test_by_need(): ...

    def test_by_late_need(tool): tool("no-such-program")

    def test_by_call(): pytest.skip("by call")

    @pytest.mark.skip(reason="by mark")
    def test_by_mark(): ...

    @pytest.mark.skipif(True, reason="by condition")
    def test_by_condition(): ...

    class Old(unittest.TestCase):
        @unittest.skip("by unittest")
        def test_by_unittest(self): ...

    def test_that_runs(): ...
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A small suite with our conftest, on a machine that lacks one program."""
    monkeypatch.delenv("PBEM_TEST_NO_SKIP", raising=False)
    missing = 'TOOLS["no-such-program"] = Tool(("no-such-program",), "apt-get install nothing")'
    present = 'TOOLS["python"] = Tool(("python3",), "apt-get install python3")'
    pytester.makeconftest("\n".join((_CONFTEST, missing, present)))
    pytester.makeini("[pytest]\nmarkers =\n    needs(*tools): programs\n    slice(share, among): some\n")
    return pytester


def test_a_missing_tool_is_named_at_the_end_with_the_way_to_get_it(suite: pytest.Pytester) -> None:
    suite.makepyfile("""
        import pytest

        @pytest.mark.needs("no-such-program")
        def test_one(): ...
    """)
    result = suite.runpytest()
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*NOT RUN: 1*", "needs no-such-program (apt-get install nothing): 1", "*::test_one"])


def test_a_test_whose_tools_are_found_runs(suite: pytest.Pytester) -> None:
    suite.makepyfile("""
        import pytest

        @pytest.mark.needs("python")
        def test_one(tool): assert tool("python").endswith("python3")
    """)
    result = suite.runpytest()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*NOT RUN*")


def test_an_unknown_tool_is_a_failure(suite: pytest.Pytester) -> None:
    suite.makepyfile("""
        import pytest

        @pytest.mark.needs("chronium")
        def test_one(): ...
    """)
    result = suite.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*needs('chronium')*add it*"])


def test_every_kind_of_skip_is_reported(suite: pytest.Pytester) -> None:
    suite.makepyfile(_ONE_OF_EACH_SKIP)
    result = suite.runpytest()
    result.assert_outcomes(skipped=6, passed=1)
    result.stdout.fnmatch_lines(["*NOT RUN: 6*"])


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_every_kind_of_skip_fails_when_skipping_is_forbidden(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PBEM_TEST_NO_SKIP", "1")
    suite.makepyfile(_ONE_OF_EACH_SKIP)
    result = suite.runpytest_subprocess(*workers)
    outcomes = result.parseoutcomes()
    assert "skipped" not in outcomes
    assert outcomes["failed"] + outcomes.get("errors", 0) == 6
    assert outcomes["passed"] == 1
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*skipping is forbidden: by call*"])


def test_a_skipped_module_fails_when_skipping_is_forbidden(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PBEM_TEST_NO_SKIP", "1")
    suite.makepyfile("""
        import pytest

        pytest.importorskip("no_such_module")
    """)
    result = suite.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*skipping is forbidden*no_such_module*"])


def test_an_expected_failure_is_not_a_skip(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PBEM_TEST_NO_SKIP", "1")
    suite.makepyfile("""
        import pytest

        @pytest.mark.xfail(reason="known", strict=True)
        def test_one(): assert False
    """)
    suite.runpytest().assert_outcomes(xfailed=1)


def test_the_last_line_is_pytests_own(suite: pytest.Pytester) -> None:
    suite.makepyfile(_ONE_OF_EACH_SKIP)
    result = suite.runpytest()
    last = [line for line in result.outlines if line.strip()][-1]
    assert "1 passed, 6 skipped" in last


def test_figures_are_noted_once_and_by_the_process_that_knows_of_all_tests(suite: pytest.Pytester) -> None:
    conftest_of_suite = suite.path / "conftest.py"
    noting = 'figures.note = lambda found, passed: Path("noted.txt").open("a").write(f"{len([*found])} {passed}\\n")'
    conftest_of_suite.write_text(f"{conftest_of_suite.read_text()}\n{noting}\n")
    suite.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(2))
        def test_one(number, record_property):
            record_property("kit.games", 1)
            assert number != 1
        """
    )
    suite.runpytest_subprocess("-n", "2").assert_outcomes(passed=1, failed=1)
    assert (suite.path / "noted.txt").read_text() == "2 False\n"


def test_a_failing_run_prints_how_to_repeat_it(suite: pytest.Pytester) -> None:
    suite.makepyfile(test_broken="def test_one(): assert False")
    result = suite.runpytest("-p", "randomly", "--randomly-seed=12345")
    result.stdout.fnmatch_lines(["*TO REPEAT*", "*--randomly-seed=12345*test_broken.py"])


_CASES = """
    import pytest

    @pytest.mark.slice(1 / 4)
    @pytest.mark.parametrize("case", range(12))
    def test_one(case): print(f"case {case}.")

    @pytest.mark.slice(1 / 2)
    @pytest.mark.parametrize("other", range(2))
    def test_of_another_slice(other): ...

    def test_of_no_slice(): ...
"""


def _cases(suite: pytest.Pytester, seed: int) -> set[str]:
    """The cases that a run with this seed tries."""
    result = suite.runpytest("-rP", "-p", "randomly", f"--randomly-seed={seed}")
    return {line for line in result.outlines if line.startswith("case ")}


def test_a_commit_tries_a_slice_whatever_the_seed_and_another_commit_another(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.makepyfile(_CASES)
    suite.runpytest().assert_outcomes(passed=5, deselected=10)
    found = []
    for seed in range(10):
        monkeypatch.setenv("PBEM_TEST_SLICE", f"commit {seed}")
        found.append(_cases(suite, seed))
    assert {len(each) for each in found} == {3}
    assert len(set().union(*found)) > 6
    assert _cases(suite, 7) == found[9]


def test_a_slice_can_be_chosen_and_is_else_that_of_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PBEM_TEST_SLICE", "the third")
    assert conftest._choice_of_slices() == "the third"
    monkeypatch.delenv("PBEM_TEST_SLICE")
    assert conftest._choice_of_slices() == conftest._choice_of_slices() != ""


def test_processes_agree_on_the_slice_of_a_run(suite: pytest.Pytester) -> None:
    suite.makepyfile(_CASES)
    result = suite.runpytest_subprocess("-n", "2", "--dist", "loadgroup")
    result.assert_outcomes(passed=5)


def test_a_slice_may_be_of_tests_in_several_files(suite: pytest.Pytester) -> None:
    one = "import pytest\n\n@pytest.mark.slice(1 / 3, among='both')\ndef test_it(): ..."
    suite.makepyfile(test_a=one, test_b=one, test_c=one)
    suite.runpytest().assert_outcomes(passed=1, deselected=2)


def test_a_twentieth_of_the_slow_tests_are_tried_and_a_share_of_one_test_now_and_then(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.makepyfile(
        test_slow="import pytest\n\n@pytest.mark.slow\n@pytest.mark.parametrize('case', range(20))\ndef test_it(case): ...",
        test_rare="import pytest\n\n@pytest.mark.slice(1 / 2)\ndef test_it(): ...",
    )
    passed = []
    for seed in range(10):
        monkeypatch.setenv("PBEM_TEST_SLICE", f"commit {seed}")
        passed.append(suite.runpytest().parseoutcomes()["passed"])
    assert set(passed) == {1, 2}
    suite.runpytest_subprocess("-n", "2").assert_outcomes(passed=passed[-1])
    suite.runpytest("-k", "test_rare").assert_outcomes(passed=1, deselected=20)
    suite.runpytest("test_slow.py").assert_outcomes(passed=20)


def test_two_cases_of_a_test_are_tried_and_others_with_another_commit(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.makepyfile(
        test_cases="import pytest\n\n@pytest.mark.parametrize('case', range(12))\ndef test_it(case): print(f'case {case}.')",
        test_other="import pytest\n\n@pytest.mark.parametrize('case', range(2))\ndef test_it(case): ...",
    )
    found = []
    for seed in range(10):
        monkeypatch.setenv("PBEM_TEST_SLICE", f"commit {seed}")
        suite.runpytest().assert_outcomes(passed=4, deselected=10)
        found.append(_cases(suite, seed))
    assert {len(each) for each in found} == {2}
    assert len(set().union(*found)) > 6
    suite.runpytest("test_cases.py").assert_outcomes(passed=12)
    suite.runpytest("-k", "test_it").assert_outcomes(passed=14)


def test_everything_is_tried_if_asked_for(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PBEM_TEST_ALL", "1")
    suite.makepyfile(_CASES)
    suite.runpytest().assert_outcomes(passed=15)


def test_a_case_that_is_named_is_run(suite: pytest.Pytester) -> None:
    path = suite.makepyfile(_CASES)
    for case in range(12):
        suite.runpytest(f"{path}::test_one[{case}]").assert_outcomes(passed=1)


@pytest.mark.parametrize("everything", [False, True])
def test_a_test_goes_through_some_of_its_cases_or_all(monkeypatch: pytest.MonkeyPatch, everything: bool) -> None:
    monkeypatch.setattr(conftest, "EVERYTHING", everything)
    found = conftest.some(range(10), 1 / 4)
    assert found == [*range(10)] if everything else len({*found} & {*range(10)}) == 3


def test_no_test_reaches_beyond_this_machine() -> None:
    # The broadcast address: without the guard, the kernel would refuse it without sending a packet.
    with (
        socket.socket() as outward,
        warnings.catch_warnings(action="ignore"),
        pytest.raises(pytest_socket.SocketConnectBlockedError),
    ):
        outward.connect(("255.255.255.255", 9))


def test_a_test_reaches_this_machine_by_address_and_by_socket_file(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.connect(server.getsockname())
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as client:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        client.connect(str(tmp_path / "s"))


def test_a_warning_is_an_error() -> None:
    with pytest.raises(UserWarning, match="loud"):
        warnings.warn("loud", stacklevel=1)


def test_processes_of_a_suite_in_the_background_of_a_script_hear_ctrl_c(suite: pytest.Pytester) -> None:
    suite.makepyfile("""
        import signal
        import subprocess
        import sys

        def test_one():
            program = "print('begun', flush=True); import time; time.sleep(100)"
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            with subprocess.Popen([sys.executable, "-c", program], **pipes) as process:
                assert process.stdout.readline() == b"begun\\n"
                process.send_signal(signal.SIGINT)
                assert b"KeyboardInterrupt" in process.stderr.read()
    """)
    # As a shell does with what it does not wait for.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        suite.runpytest_subprocess().assert_outcomes(passed=1)
    finally:
        signal.signal(signal.SIGINT, before)


def test_no_test_leaves_its_mask_for_files_to_the_next(suite: pytest.Pytester) -> None:
    suite.makepyfile("""
        import os
        import pytest

        @pytest.fixture(scope="module", params=[1, 2])
        def mask(request):
            mask = os.umask(0o022)
            os.umask(mask)
            return mask

        def test_one(mask):
            assert mask == 0o022
            os.umask(0o077)
    """)
    suite.runpytest("-p", "no:randomly").assert_outcomes(passed=2)


def test_a_port_that_one_process_was_given_is_given_to_no_other() -> None:
    port = free_port()
    only = f"from tests import ports; ports._left[:] = [{port}]; ports.free_port()"
    other = subprocess.run([sys.executable, "-c", only], check=False, capture_output=True, text=True)
    assert "IndexError: pop from empty list" in other.stderr

import fcntl
import json
import os
import pty
import resource
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import gode as package
from commands import GROWTH, WAIT, finished, gode, refused, start, wait_for_work
from gode.cli.discover import jobs_note
from gode.cli.running import live_progress
from gode.search.workers import cores

QUICK = ["--effort", "quick", "--grammar", "first-order"]
QUICK += [word for symbol in ["t", "exp", "log", "sin", "cos", "tanh"] for word in ("--without", symbol)]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The record of a discovery that nothing disturbed, and what was printed; output is no terminal."""
    out = tmp_path_factory.mktemp("whole")
    code, output, errors = finished(start("discover", GROWTH, *QUICK, "--out", out))
    assert code == 0, errors
    return (out / "record.json").read_bytes(), output, sorted(os.listdir(out))


def test_the_answer_is_told_in_plain_words_when_piped(uninterrupted):
    _, output, files = uninterrupted
    assert output.splitlines()[0].endswith("growth.csv: 71 rows; time from 't', u from 'u'")
    assert "\n  u' = 0.6314*u - 0.05496*u^2\n" in output
    assert "0.631 ± 0.011 multiplying u" in output
    assert "accuracy against complexity" in output
    assert "Undecided: " in output
    assert "\x1b" not in output
    assert "tried, " not in output  # no progress
    assert files == ["fit.csv", "overview.png", "record.json", "report.html"]
    assert all(f"{name}\n" in output for name in files)


def test_the_laws_beside_that_named_end_with_the_next_larger_one(uninterrupted):
    _, output, _ = uninterrupted
    shown = output.split("accuracy against complexity")[1].split("Among the laws")[0]
    rows = [line.strip().split(maxsplit=2) for line in shown.splitlines() if line.strip()[:1].isdigit()]
    sizes = [int(size) for size, _, _ in rows]
    named = [law for _, _, law in rows].index("u' = 0.6314*u - 0.05496*u^2")
    assert sizes == sorted(sizes)
    assert named >= len(rows) - 2


def test_killed_and_started_again_it_ends_the_same(uninterrupted, tmp_path):
    kill_and_finish(uninterrupted[0], tmp_path, np.random.default_rng(1), kills=1)


@pytest.mark.slow
def test_killed_thirty_times_it_ends_the_same(tmp_path):
    script = Path(__file__).parents[1] / "killing.py"
    words = [sys.executable, script, GROWTH, tmp_path, "30", *QUICK]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stderr.split()[-2]) >= 30


def kill_and_finish(record, out, rng, *, kills):
    """Kill the command at random moments, each later in its work than the last; then let it finish."""
    command = ("discover", GROWTH, *QUICK, "--out", out)
    for _ in range(kills):
        process = start(*command)
        wait_for_work(process, out, int(rng.integers(0, 30)))
        time.sleep(float(rng.uniform(0, 0.3)))
        process.kill()
        process.communicate()
    code, _, errors = finished(start(*command))
    assert code == 0, errors
    assert (out / "record.json").read_bytes() == record
    assert not (out / "checkpoint.jsonl").exists()


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for processes in /proc")
def test_a_killed_discovery_leaves_no_worker_behind(tmp_path):
    marked = {**os.environ, "GODE_TEST_MARK": str(tmp_path)}
    process = start("discover", GROWTH, *QUICK, "--jobs", "2", "--out", tmp_path, env=marked)
    wait_for_work(process, tmp_path, 3)
    workers = [pid for pid in marked_processes(str(tmp_path)) if pid != process.pid]
    process.kill()
    process.communicate(timeout=WAIT)
    assert workers
    deadline = time.monotonic() + 60
    while marked_processes(str(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert marked_processes(str(tmp_path)) == []


def marked_processes(mark):
    """The processes that inherited this mark."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if mark.encode() in file.read():
                    found.append(int(name))
        except OSError:  # no process, or not ours, or gone
            continue
    return found


@pytest.mark.slow
def test_ctrl_c_on_a_terminal_saves_the_best_so_far_and_exits_with_130(tmp_path):
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    own = {"stdin": slave, "stdout": slave, "stderr": slave, "start_new_session": True}
    environment = {**os.environ, "TERM": "xterm"}
    asked = ("discover", GROWTH, "--effort", "thorough", "--out", tmp_path)
    process = start(*asked, env=environment, preexec_fn=take_terminal, **own)
    os.close(slave)
    text = read_until(master, b"best so far: u' = ")
    os.write(master, b"\x03")
    text += read_until(master, None)
    os.close(master)
    assert process.wait(WAIT) == 130, text.decode()
    assert b"searching near the best" in text
    assert b"Interrupted: this is the best of " in text
    assert b"Traceback" not in text
    best = package.load(tmp_path / "record.json")
    assert best.interrupted
    assert best.simulate().failure is None
    assert (tmp_path / "checkpoint.jsonl").exists()


def test_sigterm_saves_the_best_so_far_and_exits_with_143(tmp_path):
    process = start("discover", GROWTH, *QUICK, "--out", tmp_path)
    wait_for_work(process, tmp_path, 3)
    process.send_signal(signal.SIGTERM)
    code, output, errors = finished(process)
    assert code == 143, errors
    assert "Interrupted: this is the best of " in output
    assert "Traceback" not in errors
    assert package.load(tmp_path / "record.json").interrupted


def test_after_the_record_was_written_an_interruption_says_so(tmp_path, monkeypatch):
    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("gode.report.page.write_page", pressed)
    result = gode("fit", "u' = C*u", GROWTH, "--out", tmp_path)
    assert result.exit_code == 130
    assert result.stderr == (
        f"gode: interrupted after {tmp_path / 'record.json'} was written, before picture and report were\n"
    )


def test_an_interruption_while_the_result_is_printed_says_so(tmp_path, monkeypatch):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("gode.cli.results.print_discovery", pressed)
    printed = gode("fit", "u' = C*u", GROWTH)
    assert (printed.exit_code, printed.stderr) == (130, "gode: interrupted while the result was printed\n")
    written = gode("fit", "u' = C*u", GROWTH, "--out", tmp_path)
    assert f"gode: interrupted after {tmp_path / 'record.json'} was written" in written.stderr


def test_a_limit_of_time_ends_with_the_best_so_far_and_the_exit_code_of_its_verdict(tmp_path):
    words = ("discover", GROWTH, *QUICK, "--max-seconds", "0.2", "--out", tmp_path)
    result = gode(*words)
    found = package.load(tmp_path / "record.json")
    assert result.exit_code == (3 if found.quality.verdict.is_failure else 0), result.output
    assert "\nStopped after " in result.output
    assert found.timed_out
    assert "is not in the range" in refused("discover", GROWTH, "--max-seconds", "0")


def test_quiet_prints_the_equation_and_nothing_else(tmp_path):
    result = gode("fit", "u' = C*u - C*u^2", GROWTH, "--quiet", "--out", tmp_path)
    assert result.output == "u' = 0.6314*u - 0.05496*u^2\n"
    assert (tmp_path / "record.json").exists()


def test_order_auto_is_told_and_json_is_all_there_is(tmp_path):
    t = np.linspace(0.0, 12.0, 60)
    u = np.exp(-0.1 * t) * np.cos(2 * t) + 0.02 * np.random.default_rng(0).standard_normal(60)
    rows = "".join(f"{float(a)!r},{float(b)!r}\n" for a, b in zip(t, u, strict=True))
    (tmp_path / "swing.csv").write_text("t,u\n" + rows)
    rules = "sum -> \"u'\" '+' 'C' '*' 'u' | \"u''\" '+' 'C' '*' 'u' '+' 'C' '*' \"u'\""
    (tmp_path / "few.grammar").write_text(f"%template {{sentence}} = 0\n{rules}\n")
    words = ("discover", tmp_path / "swing.csv", "--grammar", tmp_path / "few.grammar", "--order", "auto")
    result = gode(*words, "--json")
    found = json.loads(result.stdout)
    assert found["order"] == 2
    assert "orders 1 and 2 were tried" in found["remarks"][0]


def test_a_small_grammar_goes_from_its_file_to_the_equation(tmp_path):
    terms = "'C' '*' 'u' | 'C' '*' 'u' '+' 'C' '*' 'u' '^' '2' | 'C' '*' 'u' '*' 'log' '(' 'u' ')'"
    (tmp_path / "my.grammar").write_text(f"%template u' = {{sentence}}\nsum -> {terms}\n")
    result = gode("discover", GROWTH, "--grammar", tmp_path / "my.grammar", "--json")
    found = json.loads(result.stdout)
    assert found["text"] == "u' = 0.6314*u - 0.05496*u^2"
    assert found["n_fitted"] == 3
    assert len(found["equations"]) <= 3


def test_more_processes_than_cores_are_told():
    assert jobs_note(cores()) == []
    assert jobs_note(9999) == [f"--jobs 9999: {cores()} processes are used, one for each core"]


def take_terminal():
    """Make the terminal on standard input the one whose Ctrl-C this process gets."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def read_until(terminal, words):
    """Return what a terminal shows until these words, or its end."""
    text = b""
    while words is None or words not in text:
        try:
            text += os.read(terminal, 65536)
        except OSError:  # the other side was closed
            break
    return text


def heed_interrupts():
    """Let Ctrl-C reach this process, which a shell's background work does not hear."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def wait_for_reader(pipe):
    """Fill a pipe, and wait until somebody reads from it."""
    os.set_blocking(pipe, False)
    with suppress(BlockingIOError):
        while True:
            os.write(pipe, b" " * 4096)
    _, ready, _ = select.select([], [pipe], [], WAIT)
    assert ready, "nobody reads"


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_before_there_is_anything_exits_with_its_code(number, expected):
    reader, writer = os.pipe()
    process = start("discover", "-", stdin=reader, preexec_fn=heed_interrupts)
    wait_for_reader(writer)  # now it waits for more
    process.send_signal(number)
    code, _, errors = finished(process)
    os.close(writer)
    os.close(reader)
    assert code == expected
    assert errors.strip().splitlines()[-1] == "gode: interrupted before there was a result"


def test_a_full_disk_is_one_sentence_and_leaves_the_earlier_record(tmp_path):
    (tmp_path / "record.json").write_text("earlier")

    def tiny_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))

    process = start("discover", GROWTH, *QUICK, "--out", tmp_path, preexec_fn=tiny_files)
    code, _, errors = finished(process)
    assert code == 2
    assert "checkpoint.jsonl cannot be written (File too large)" in errors
    assert "Traceback" not in errors
    assert (tmp_path / "record.json").read_text() == "earlier"


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    assert "cannot be made" in refused("discover", GROWTH, "--out", tmp_path / "file")
    if os.path.isdir("/proc/self"):  # where not even root may write
        assert "cannot be written" in refused("discover", GROWTH, "--out", "/proc/self")


def test_progress_is_silent_where_there_is_no_terminal():
    with live_progress(quiet=False) as on_step:
        assert on_step is None


def test_several_files_and_a_column_of_runs_are_several_runs(tmp_path):
    t = np.linspace(0.0, 3.0, 25)
    rows = [(i, s, (1.0 + i) * np.exp(-0.7 * s)) for i in range(2) for s in t]
    joint = "run,t,u\n" + "".join(f"{i},{float(s)!r},{float(u)!r}\n" for i, s, u in rows)
    (tmp_path / "joint.csv").write_text(joint)
    for k in range(2):
        own = "".join(f"{float(s)!r},{float(u)!r}\n" for i, s, u in rows if i == k)
        (tmp_path / f"{k}.csv").write_text("t,u\n" + own)
    both = gode(
        "fit",
        "u' = C*u",
        tmp_path / "0.csv",
        tmp_path / "1.csv",
        "--json",
        "--initial",
        "1",
        "--initial",
        "2",
    )
    one = gode("fit", "u' = C*u", tmp_path / "joint.csv", "--json", "--initial", "1", "--initial", "2")
    found, again = json.loads(both.stdout), json.loads(one.stdout)
    assert found["text"] == again["text"] == "u' = -0.7*u"
    assert found["initial"] == [[1.0], [2.0]]
    assert "2 runs by 'run'" in again["data"][0]


@pytest.mark.slow
def test_where_the_first_order_fails_the_second_is_named(tmp_path):
    t = np.linspace(0.0, 12.0, 60)
    u = np.exp(-0.1 * t) * np.cos(2 * t) + 0.02 * np.random.default_rng(0).standard_normal(60)
    rows = "".join(f"{float(a)!r},{float(b)!r}\n" for a, b in zip(t, u, strict=True))
    (tmp_path / "swing.csv").write_text("t,u\n" + rows)
    words = ("discover", tmp_path / "swing.csv", "--effort", "quick", "--without", "t")
    assert "--order 2" in gode(*words).output
    assert "--order 2" not in gode(*words, "--order", "2").output


BAD = {
    "empty": (b"", "is empty"),
    "one row": (b"t,u\n0,1\n", "too few"),
    "constant times": (b"t,u\n" + b"1,2\n" * 9, "time must increase"),
    "text": (b"t,u\n0,1\n1,2\n2,abc\n3,4\n4,5\n", "line 4, column 'u'"),
    "all missing": (b"t,u\n" + b"".join(b"%d,\n" % i for i in range(9)), "nothing"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0", "no text file"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_sentence(name, tmp_path):
    content, sentence = BAD[name]
    (tmp_path / "data.csv").write_bytes(content)
    assert sentence in refused("discover", tmp_path / "data.csv")


def test_bad_options_are_one_sentence(tmp_path):
    assert "is a directory" in refused("discover", tmp_path)
    assert "No such file" in refused("discover", tmp_path / "nowhere.csv")
    assert "must be a value for each state for order 1, got 2 values" in refused(
        "discover", GROWTH, "--initial", "1,0"
    )
    assert "cannot be both u and force" in refused("discover", GROWTH, "--u", "u", "--force", "u")
    assert "nowhere" in refused("discover", GROWTH, "--grammar", "nowhere")
    assert "neither a column" in refused("discover", GROWTH, "--force", "__import__('os')")

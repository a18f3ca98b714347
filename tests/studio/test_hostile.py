"""What a hostile or unlucky user does to a studio: odd names, two clicks at once, folders changed by hand."""

import asyncio
import io
import json
import shutil
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gode.errors import FileError
from gode.studio.form import in_words
from gode.studio.guard import Guard
from gode.studio.runs import SAFE, Queue, Runs, State, safe_name
from gode.studio.server import PORT, _bound
from studio_runs import join

TABLE = b"t,u\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(12))


@pytest.fixture
def client(studio):
    with join(studio) as made:
        yield made


def run_of(answer: httpx.Response) -> str:
    return answer.url.path.rsplit("/", 1)[1]


def uploaded(client, *names: str) -> httpx.Response:
    return client.post("/runs", files=[("file", (name, TABLE)) for name in names])


@given(st.text() | st.text("-. a+_cé/\\") | st.text("𠀀.", min_size=60))
def test_a_safe_name_stays_as_it_is(name):
    safe = safe_name(name)
    assert safe_name(safe) == safe
    assert SAFE.fullmatch(safe)
    assert len(safe.encode()) <= 255 - 20  # with room for a number


@pytest.mark.parametrize(
    "names",
    [
        ("-.csv",),
        ("a.abc def ghi jk",),
        ("a" * 90 + "1.csv", "a" * 90 + "2.csv"),
        ("A.csv", "a.csv"),
        ("x .",),
    ],
)
def test_files_of_any_name_become_a_run(client, studio, names):
    answer = uploaded(client, *names)
    assert answer.status_code == 200
    assert 'id="setup"' in answer.text
    assert len(list((studio.folder / run_of(answer) / "data").iterdir())) == len(names)


def test_two_deletes_at_once_delete_once(client, studio):
    for _ in range(5):
        run = run_of(uploaded(client, "a.csv"))
        with ThreadPoolExecutor(4) as pool:
            done = list(pool.map(lambda _, run=run: client.post(f"/runs/{run}/delete"), range(4)))
        assert sorted(answer.status_code for answer in done) == [200, 400, 400, 400]
        assert all("there is no such run" in answer.text for answer in done if answer.status_code == 400)
        assert not (studio.folder / run).exists()
    assert not list(studio.folder.glob(".deleted-*"))


def test_of_a_linked_run_only_the_link_is_deleted(client, studio, tmp_path):
    run = run_of(uploaded(client, "a.csv"))
    shutil.move(studio.folder / run, tmp_path / run)
    (studio.folder / run).symlink_to(tmp_path / run)
    assert client.get(f"/runs/{run}").status_code == 200
    assert client.post(f"/runs/{run}/delete").status_code == 200
    assert not (studio.folder / run).exists()
    assert (tmp_path / run / "data" / "a.csv").is_file()


@pytest.mark.parametrize("what", ["missing", "device"])
def test_a_run_without_its_data_says_so_and_cannot_be_copied(client, studio, what):
    run = run_of(uploaded(client, "a.csv"))
    data = studio.folder / run / "data" / "a.csv"
    data.unlink()
    if what == "device":
        data.symlink_to("/dev/zero")
    before = len(list(studio.folder.iterdir()))
    answer = client.post(f"/runs/{run}/again")
    assert answer.status_code == 400
    assert "a.csv" in answer.text
    assert len(list(studio.folder.iterdir())) == before
    shown = client.get(f"/runs/{run}").text
    assert "is not there any more" in shown if what == "missing" else "is a device" in shown
    client.post(f"/runs/{run}/delete")


@pytest.mark.parametrize("content", ["[" * 100_000, "[]", '{"id": 1', '{"title": 1e999}', "9" * 5000])
def test_a_damaged_run_leaves_the_others_alone(client, studio, content):
    run = run_of(uploaded(client, "a.csv"))
    (studio.folder / run / "job.json").write_text(content)
    assert client.get("/").status_code == 200
    answer = client.get(f"/runs/{run}")
    assert answer.status_code == 400
    assert "damaged" in answer.text
    shutil.rmtree(studio.folder / run)


def test_odd_contents_of_the_files_of_a_run_are_no_failure(client, studio):
    run = run_of(uploaded(client, "a.csv"))
    path = studio.folder / run / "job.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "title": "half \ud800", "since": "9999"}))
    (studio.folder / run / "record.json").write_text('{\n"equation": "half \\ud800",\n')
    assert client.get("/").status_code == 200
    for content in ("[" * 100_000, '{"left": NaN}', "[1]"):
        (studio.folder / run / "progress.json").write_text(content)
        assert client.get(f"/runs/{run}/state.json").json()["state"] == "draft"
    client.post(f"/runs/{run}/delete")


def test_a_variable_of_a_file_that_was_mistyped_can_be_corrected(client):
    scipy_io = pytest.importorskip("scipy.io")
    out = io.BytesIO()
    t = np.linspace(0.0, 1.0, 12)
    scipy_io.savemat(out, {"one": {"t": t, "u": t**2}, "two": {"time": t, "angle": np.cos(t)}})
    run = run_of(client.post("/runs", files={"file": ("many.mat", out.getvalue())}))
    wrong = client.post(f"/runs/{run}/part", data={"part": "tow"})
    assert "has no variable" in wrong.text
    assert "it has" in wrong.text
    assert 'name="part" value="tow"' in wrong.text
    right = client.post(f"/runs/{run}/part", data={"part": "two"})
    assert "angle" in right.text
    assert '<option value="time" selected>' in right.text
    client.post(f"/runs/{run}/delete")


def test_a_part_of_a_file_that_has_none_can_be_taken_back(client):
    run = run_of(uploaded(client, "a.csv"))
    assert "has no parts" in client.post(f"/runs/{run}/part", data={"part": "x"}).text
    assert 'id="setup"' in client.post(f"/runs/{run}/part", data={"part": ""}).text
    client.post(f"/runs/{run}/delete")


def test_a_long_table_is_pasted(client):
    rows = "t,u\n" + "".join(f"{i},{i % 7}\n" for i in range(200_000))
    assert len(rows) > 1_500_000
    answer = client.post("/runs", files={"text": (None, rows)})
    assert answer.status_code == 200
    assert "200000 rows" in answer.text
    client.post(f"/runs/{run_of(answer)}/delete")


def test_what_the_server_refuses_comes_in_our_words(client):
    many = uploaded(client, *(f"{i}.csv" for i in range(60)))
    assert many.status_code == 400
    assert "At most 50 files are taken at once" in many.text
    assert client.get("/runs").status_code == 405
    assert "takes no such request" in client.get("/runs").text


@pytest.mark.parametrize(
    "path", ["//evil.example/", "/%5Cevil.example/", "///evil.example/a", "//evil.example"]
)
def test_the_right_token_leads_to_no_other_host(studio, path):
    token = studio.link.partition("token=")[2]
    with httpx.Client(trust_env=False) as stranger:
        answer = stranger.get(f"{studio.address}{path}?token={token}")
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/")
    assert answer.headers["location"][1:2] not in ("/", "\\")


def test_a_tab_of_an_earlier_start_is_told_how_to_get_in(studio):
    with httpx.Client(base_url=studio.address, trust_env=False, follow_redirects=True) as stranger:
        answer = stranger.get("/runs/x")
        assert answer.status_code == 403
        assert "Each start of gode studio prints a new one" in answer.text
        assert '<form method="get" action="/runs/x">' in answer.text
        assert 'action="/evil.example/"' in stranger.get(f"{studio.address}//evil.example/").text
        assert stranger.get("/", params={"token": "token=wrong"}).status_code == 403
        assert (
            stranger.get("/", params={"token": f" {studio.link}"}).status_code == 200
        )  # the whole link, pasted


def test_the_next_studio_of_a_folder_is_found_where_the_last_one_was(tmp_path):
    with _bound(0, tmp_path) as first:
        port = first.getsockname()[1]
    (tmp_path / PORT).write_text(f"{port}\n")
    with _bound(0, tmp_path) as second:
        assert second.getsockname()[1] == port
        second.listen()
        with _bound(0, tmp_path) as third:  # it is taken now
            assert third.getsockname()[1] != port
    for text in ("99999999", "-1", "x", ""):
        (tmp_path / PORT).write_text(text)
        _bound(0, tmp_path).close()


def test_an_unexpected_failure_is_a_page_with_a_sentence():
    async def app(scope, receive, send):
        raise LookupError("secret")

    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b""}

    guard = Guard(app, token="abc", port=1, max_upload=10_000, upload_path="/runs")
    headers = [(b"host", b"127.0.0.1:1"), (b"cookie", b"gode-1=abc")]
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": headers}
    with ThreadPoolExecutor(1) as own:
        own.submit(asyncio.run, guard(scope, receive, send)).result()
    assert sent[0]["status"] == 500
    assert b"content-security-policy" in dict(sent[0]["headers"])
    assert b"failed in an unexpected way" in sent[1]["body"]
    assert b"secret" not in sent[1]["body"]


def test_a_waiting_search_that_is_taken_back_keeps_its_earlier_result(tmp_path):
    runs = Runs(tmp_path)
    queue = Queue(runs)
    job = runs.move(runs.add({"a.csv": TABLE}), State.QUEUED)
    queue.stop(job)
    assert runs.load(job.id).state is State.DRAFT
    (tmp_path / job.id / "record.json").write_text("{}")
    queue.stop(runs.move(job, State.QUEUED))
    assert runs.load(job.id).state is State.STOPPED


def test_a_search_that_cannot_begin_does_not_end_the_queue(tmp_path):
    async def work():
        runs = Runs(tmp_path)
        queue = Queue(runs)
        gone, next_one = (runs.add({"a.csv": TABLE}, title=name) for name in ("gone", "next"))
        (tmp_path / gone.id / "lock").mkdir()  # the lock cannot be opened
        for job in (gone, next_one):
            runs.move(job, State.QUEUED, words=("--time", "nothing"))
        queue.begin()
        for _ in range(600):
            await asyncio.sleep(0.1)
            if runs.load(next_one.id).state is State.FAILED:
                break
        await queue.end()
        return runs.load(gone.id), runs.load(next_one.id)

    with ThreadPoolExecutor(1) as own:
        gone, next_one = own.submit(asyncio.run, work()).result()
    assert gone.state is next_one.state is State.FAILED
    assert "could not begin" in gone.message
    assert "the role “time”" in next_one.message or "nothing" in next_one.message


def test_a_waiting_run_offers_to_be_taken_back(tmp_path):
    from gode.studio import pages

    job = Runs(tmp_path).add({"a.csv": TABLE})
    waiting, running = (pages.search(Runs(tmp_path).move(job, s), "") for s in (State.QUEUED, State.RUNNING))
    assert "Take it out of the queue" in waiting
    assert "Stop and keep the best" not in waiting
    assert "Stop and keep the best" in running


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("--initial was given 2 times for 1 runs", "“Known initial values” was given 2 times for 1 runs"),
        ("name the times with --time", "name the times with the role “time”"),
        (
            "give each its own (--individual all, or individual=True)",
            "give each its own (“Constants that each run has for itself” all)",
        ),
        (
            "give --keep-outliers (in Python, keep_outliers=True).",
            "give “Readings far from all others”.",
        ),
        ("one --other and a-- b", "one --other and a-- b"),
    ],
)
def test_messages_on_the_page_have_its_words(said, words):
    assert in_words(said) == words


def test_a_file_of_a_run_cannot_lead_elsewhere(tmp_path):
    runs = Runs(tmp_path)
    job = runs.add({"a.csv": TABLE})
    path = tmp_path / job.id / "job.json"
    for name in ("../../etc/passwd", "..", ".hidden", "-rf", "a/b", "a\\b", ""):
        path.write_text(json.dumps({**json.loads(path.read_text()), "files": [name]}))
        with pytest.raises(FileError, match="is damaged"):
            runs.load(job.id)


def test_remedies_comparisons_and_names_that_make_no_sense_are_told(client, studio):
    run = run_of(uploaded(client, "a.csv"))
    assert "choose two runs" in client.get("/compare", params={"run": [run, run]}).text
    assert "no such run" in client.get("/compare", params={"run": ["../x", run]}).text
    assert client.post("/delete", data={"run": "../../x"}).status_code == 400
    before = {job.id for job in Runs(studio.folder).all()}
    told = client.post(f"/runs/{run}/remedy", data={"edit": "improve it", "order": "2", "other": "x"})
    assert told.status_code == 400
    assert "improve it" in told.text
    newer = {job.id for job in Runs(studio.folder).all()} - before
    made = json.loads((studio.folder / newer.pop() / "job.json").read_text())
    assert made["base"] == run
    assert "other" not in made["form"]
    assert client.post(f"/runs/{run}/rename", data={"title": "<b>" + "x" * 200}).status_code == 200
    assert Runs(studio.folder).load(run).title == "<b>" + "x" * 77
    assert "<b>" not in client.get("/").text
    assert client.post("/delete", data={"run": run}).status_code == 200
    assert not (studio.folder / run).exists()

"""What the studio refuses, each in a sentence: other origins, missing tokens, odd names, too much."""

import asyncio
import io
import os
import re
import socket
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from gode.studio.guard import Guard
from gode.studio.runs import safe_name

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def client(studio):
    with httpx.Client(base_url=studio.address, trust_env=False, timeout=180) as made:
        assert made.get(studio.link).status_code == 303
        yield made


@pytest.fixture
def stranger(studio):
    with httpx.Client(base_url=studio.address, trust_env=False, timeout=180) as made:
        yield made


def uploaded(client, name: str, content: bytes) -> httpx.Response:
    return client.post("/runs", files={"file": (name, content)}, follow_redirects=True)


def said(answer: httpx.Response) -> str:
    return re.sub(r"<[^>]+>", " ", answer.text)


@pytest.mark.parametrize("path", ["/", "/runs/x", "/static/studio.js", "/?token=wrong", "/?token="])
def test_without_the_token_nothing_is_shown(stranger, path):
    answer = stranger.get(path)
    assert answer.status_code == 403
    assert "The token is missing or wrong" in answer.text


def test_a_wrong_cookie_is_refused(stranger, studio):
    port = studio.address.rsplit(":", 1)[1]
    answer = stranger.get("/", headers={"Cookie": f"gode-{port}=abc"})
    assert answer.status_code == 403


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_a_post_from_another_origin_is_refused(client, headers):
    answer = client.post("/runs", data={"example": "growth"}, headers=headers)
    assert answer.status_code == 403
    assert "another page" in answer.text


def test_another_host_name_is_refused(client):
    answer = client.get("/", headers={"Host": "evil.example"})
    assert answer.status_code == 403
    assert "own address" in answer.text


def test_every_answer_carries_a_policy_that_forbids_other_hosts(client):
    for path in ("/", "/nothing", "/static/plot.js"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers


def test_only_the_loopback_address_listens(studio):
    port = int(studio.address.rsplit(":", 1)[1])
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in others - {"127.0.0.1"}:
        with socket.socket() as tried:
            tried.settimeout(2)
            assert tried.connect_ex((address, port)) != 0
    with socket.socket() as tried:
        assert tried.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what listens")
def test_no_socket_of_the_studio_listens_elsewhere(client, studio):
    uploaded(client, "a.csv", b"t,u\n0,1\n1,2\n2,3\n")  # its reading process runs by now
    own = [studio.process.pid, *children(studio.process.pid)]
    assert len(own) > 1
    sockets = {
        os.readlink(link) for pid in own for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()
    }
    heard = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            cells = row.split()
            listens = cells[3] == "0A" or table.startswith("udp")
            if listens and f"socket:[{cells[9]}]" in sockets:
                heard.append(cells[1].split(":"))
    port = int(studio.address.rsplit(":", 1)[1])
    assert heard == [["0100007F", f"{port:04X}"]]  # 127.0.0.1


def children(pid: int) -> list[int]:
    return [
        int(word)
        for path in Path(f"/proc/{pid}/task").glob("*/children")
        for word in path.read_text().split()
    ]


@pytest.mark.parametrize(
    "path",
    [
        "/runs/..%2f..%2fetc",
        "/runs/../../etc/passwd",
        "/static/..%2fapp.py",
        "/runs/%2e%2e/files/record.json",
    ],
)
def test_paths_that_climb_lead_nowhere(client, path):
    answer = client.get(path)
    assert answer.status_code in (400, 404)
    assert "root:" not in answer.text


def test_names_of_files_lose_their_folders(client, studio):
    answer = uploaded(client, "../../../elsewhere/evil.csv", b"t,u\n0,1\n1,2\n2,3\n")
    run = answer.url.path.rsplit("/", 1)[1]
    assert [path.name for path in (studio.folder / run / "data").iterdir()] == ["evil.csv"]
    assert client.get(f"/runs/{run}/files/..%2Fjob.json").status_code in (400, 404)
    assert client.get(f"/runs/{run}/files/job.json").status_code == 400


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("..\\..\\a.csv", "a.csv"),
        ("", "data.txt"),
        (".", "data.txt"),
        ("-rf.csv", "rf.csv"),
        ("a\0b.csv", "a_b.csv"),
    ],
)
def test_safe_names(name, kept):
    assert safe_name(name) == kept


def test_a_script_in_a_header_is_text(client):
    answer = uploaded(
        client, "evil.csv", f't,{EVIL},"<img src=x onerror=alert(1)>"\n0,1,2\n1,2,3\n2,4,4\n'.encode()
    )
    assert answer.status_code == 200
    assert EVIL not in answer.text
    assert "<img" not in answer.text
    assert "&lt;script&gt;" in answer.text


def test_a_gigabyte_is_refused_before_it_is_read(client, studio):
    port = int(studio.address.rsplit(":", 1)[1])
    head = f"POST /runs HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookies(client)}\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as sent:
        sent.sendall(f"{head}Content-Length: {2**30}\r\n\r\n".encode())
        answer = sent.recv(10_000).decode()
    assert answer.startswith("HTTP/1.1 413")


def cookies(client) -> str:
    return "; ".join(f"{name}={value}" for name, value in client.cookies.items())


def test_a_stream_of_unknown_length_is_cut_off():
    taken = []

    async def app(scope, receive, send):
        while True:
            message = await receive()
            taken.append(len(message["body"]))

    async def receive():
        return {"type": "http.request", "body": b"0" * 1000, "more_body": True}

    answers = []

    async def send(message):
        answers.append(message)

    guard = Guard(app, token="abc", port=1, max_upload=10_000, upload_path="/runs")
    headers = [(b"host", b"127.0.0.1:1"), (b"cookie", b"gode-1=abc")]
    scope = {"type": "http", "method": "POST", "path": "/runs", "query_string": b"", "headers": headers}
    with ThreadPoolExecutor(1) as own:  # a browser of another test may run a loop in this thread
        own.submit(asyncio.run, guard(scope, receive, send)).result()
    assert sum(taken) == 10_000
    assert answers[0]["status"] == 413


def test_a_small_form_may_not_grow_large(client):
    run = uploaded(client, "a.csv", b"t,u\n0,1\n1,2\n2,3\n").url.path
    answer = client.post(f"{run}/note", content=b"note=" + b"x" * 3_000_000)
    assert answer.status_code == 413


def test_a_bomb_in_a_workbook_is_refused_in_a_sentence(client):
    pytest.importorskip("openpyxl")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            for _ in range(150):
                sheet.write(b" " * 10**6)
    answer = uploaded(client, "bomb.xlsx", out.getvalue())
    assert "unpacks to" in said(answer)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", b"", "is empty"),
        ("photo.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF" + bytes(range(256)), "no text file"),
        ("letter.txt", b"Dear all,\nthis is no table.\n", "no"),
    ],
)
def test_a_wrong_file_is_told_in_a_sentence(client, name, content, words):
    answer = uploaded(client, name, content)
    assert words in said(answer)
    assert "Traceback" not in answer.text


def test_nothing_chosen_is_told_in_a_sentence(client):
    answer = client.post("/runs", data={"text": ""})
    assert answer.status_code == 400
    assert "no file came" in said(answer)

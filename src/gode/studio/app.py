"""The application: what each address of the studio answers, and the second process that calculates for it.

That process reads tables and solves equations, so that the page itself never waits. Requests and the heads
of answers are lines of JSON. A request that takes too long, as a file made to do harm does, ends the process;
the next request starts another.
"""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from gode.errors import FileError, GodeError
from gode.files import read_head
from gode.studio import pages
from gode.studio.form import FIELDS, command_text, in_words
from gode.studio.guard import MAX_FORM, SANDBOX, Guard, refused
from gode.studio.pages import edit_of
from gode.studio.runs import MAX_DATA, MAX_NAME, RECORD, Job, Queue, Runs, State, download_name

COMMAND = "from gode.studio.working import main; main()"
STARTING = 600.0  # seconds that a busy machine may take to import the engine


class CalculationError(GodeError):
    """What the other process could not do, in a sentence."""


class Calculator:
    """Asks one other process, one request after the other."""

    def __init__(self, root: Path, *, seconds: float, answers: bool = False) -> None:
        """Take the folder of runs.

        Args:
            seconds: that a request may take.
            answers: whether it is about results, for which more is imported at its start.
        """
        self.root, self.seconds, self.answers = root, seconds, answers
        self.lock = asyncio.Lock()
        self.process: asyncio.subprocess.Process | None = None

    async def ask(self, what: str, **values: object) -> bytes:
        """Return the answer to a request, as JSON or as the content of a file.

        Raises:
            CalculationError: with a sentence.
        """
        async with self.lock:
            try:
                process = await asyncio.wait_for(self._started(), STARTING)
                return await asyncio.wait_for(_asked(process, {"what": what, **values}), self.seconds)
            except TimeoutError:
                await self.end()
                raise CalculationError(
                    f"this took longer than {self.seconds:.0f} s and was given up; send a smaller file"
                ) from None
            except (asyncio.IncompleteReadError, ConnectionError):
                await self.end()
                raise CalculationError(
                    "the reading process ended unexpectedly, perhaps for lack of memory; try a smaller file"
                ) from None
            except asyncio.CancelledError:  # the page is gone, and half an answer may be in the pipe
                await self.end()
                raise

    async def begin(self) -> None:
        """Start the process, so that the first request finds it ready."""
        async with self.lock:
            await self._started()

    async def end(self) -> None:
        """End the process."""
        process, self.process = self.process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()

    async def _started(self) -> asyncio.subprocess.Process:
        """Return the process once it is ready, so that its start does not count as part of a request."""
        if self.process is None or self.process.returncode is not None:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-c", COMMAND, str(self.root), *(["answers"] if self.answers else []),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            await _answer(self.process)
        return self.process


async def _asked(process: asyncio.subprocess.Process, request: dict[str, object]) -> bytes:
    assert process.stdin is not None, "it was started with a pipe"
    process.stdin.write(json.dumps(request).encode() + b"\n")
    await process.stdin.drain()
    return await _answer(process)


async def _answer(process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None, "it was started with a pipe"
    line = await process.stdout.readline()
    if not line:
        raise asyncio.IncompleteReadError(b"", None)
    head = json.loads(line)
    body = await process.stdout.readexactly(int(head["size"]))
    if not head["ok"]:
        raise CalculationError(body.decode())
    return body


UPLOAD = "/runs"
MAX_UPLOAD = MAX_DATA  # bytes of all files together
MAX_FILES = 50
OVERHEAD = 1_000_000  # of the form around the files
MAX_NOTE = 5000
MAX_SIDES = 4  # runs beside each other
HEAD = re.compile(rb'^"(equation|verdict)": ("(?:[^"\\]|\\.)*")', re.MULTILINE)  # of a record
TYPES = {
    ".html": "text/html; charset=utf-8", ".json": "application/json", ".csv": "text/csv; charset=utf-8",
    ".png": "image/png", ".svg": "image/svg+xml", ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}  # fmt: skip


class Studio:
    """What the handlers of requests share: the runs, the queue, and the processes that read and calculate."""

    def __init__(self, root: Path) -> None:
        self.runs = Runs(root)
        self.queue = Queue(self.runs)
        self.reader = Calculator(root, seconds=60.0)
        self.solver = Calculator(root, seconds=300.0, answers=True)
        self.warming: list[asyncio.Task[None]] = []

    async def home(self, request: Request) -> Response:
        """The page to begin."""
        jobs = await run_in_threadpool(self.runs.all)
        rows = [(job, *_told_of(self.runs.root / job.id)) for job in jobs]
        return HTMLResponse(pages.home(rows, str(self.runs.root.resolve())))

    async def upload(self, request: Request) -> Response:
        """A file, a pasted table, or an example becomes a draft."""
        async with request.form(max_files=MAX_FILES, max_fields=20, max_part_size=MAX_UPLOAD) as form:
            given = await _given_files(form)
        job = await run_in_threadpool(self.runs.add, given)
        return RedirectResponse(f"/runs/{job.id}", 303)

    async def show(self, request: Request) -> Response:
        """The page of a run, whatever its state."""
        return await self._page(self._job(request))

    async def _page(self, job: Job, error: str = "", status: int = 200) -> Response:
        if job.state is State.DRAFT:
            return HTMLResponse(await self._setup(job, error), status)
        command = command_text(job.sources, job.words)
        if job.state.is_over:
            fragment = await self.solver.ask("answer", run=job.id)
            return HTMLResponse(pages.answer(job, fragment.decode(), self._base(job)))
        page = pages.failed if job.state is State.FAILED else pages.search
        return HTMLResponse(page(job, command))

    async def _setup(self, job: Job, error: str) -> str:
        try:
            seen = json.loads(await self.reader.ask("look", run=job.id))
        except GodeError as failure:
            return pages.unreadable(job, str(failure))
        if not any(key.startswith(ROLE) for key in job.form):
            guessed = {f"{ROLE}{i}": [role] for i, role in enumerate(seen["roles"])}
            wells = {"wells": ["on"] if seen["wells"] else []}
            job = self.runs.save(replace(job, form={**job.form, **guessed, **wells, **seen["known"]}))
        checked = json.loads(await self.reader.ask("check", run=job.id))
        return pages.setup(job, seen, checked, error)

    async def form(self, request: Request) -> Response:
        """The choices, kept; what they mean as a command."""
        job = await self._kept(request)
        checked = json.loads(await self.reader.ask("check", run=job.id))
        return JSONResponse({**checked, "version": self.runs.version(job)})

    async def part(self, request: Request) -> Response:
        """Another sheet or variable of the file is read: roles are guessed anew, edits are gone."""
        job = await self._kept(request, merge=True)
        form = {key: value for key, value in job.form.items() if not key.startswith((ROLE, "wells"))}
        self.runs.save(replace(job, form=form, edits=()))
        return RedirectResponse(f"/runs/{job.id}", 303)

    async def edit(self, request: Request) -> Response:
        """An edit of the data more, or one less."""
        job = await self._kept(request)
        undo = request.query_params.get("undo", "")
        edits = list(job.edits)
        if undo.isdecimal():
            edits[int(undo) : int(undo) + 1] = []
        else:
            new = edit_of(request.query_params.get("do", ""), await _values(request))
            edits += [new] if new else []
        edited = self.runs.save(replace(job, edits=tuple(edits)))
        checked = json.loads(await self.reader.ask("check", run=job.id))
        if "edit" in str(checked["problem"]) and len(edits) > len(job.edits):
            self.runs.save(job)
            return await self._page(job, str(checked["problem"]), 400)
        return RedirectResponse(f"/runs/{edited.id}#data", 303)

    async def start(self, request: Request) -> Response:
        """The search is queued, if nothing is wrong with the choices."""
        job = await self._kept(request)
        checked = json.loads(await self.reader.ask("check", run=job.id))
        if checked["problem"]:
            return await self._page(job, str(checked["problem"]), 400)
        self.queue.add(job, tuple(checked["words"]))
        if not self.warming:  # so that the answer does not wait for the engine
            self.warming.append(asyncio.get_running_loop().create_task(self.solver.begin()))
        return RedirectResponse(f"/runs/{job.id}", 303)

    async def stop(self, request: Request) -> Response:
        """The search ends with its best."""
        self.queue.stop(self._job(request))
        return RedirectResponse(f"/runs/{request.path_params['run']}", 303)

    async def resume(self, request: Request) -> Response:
        """A search that was stopped or failed goes on from its checkpoint."""
        job = self._job(request)
        if job.state in (State.STOPPED, State.FAILED):
            self.queue.add(job)
        return RedirectResponse(f"/runs/{job.id}", 303)

    async def again(self, request: Request) -> Response:
        """A new draft with the same data and choices."""
        made = await run_in_threadpool(self.runs.copy, self._job(request))
        return RedirectResponse(f"/runs/{made.id}", 303)

    async def remedy(self, request: Request) -> Response:
        """A search with some choices changed, in a new run beside this one."""
        base, sent = self._job(request), await _values(request)
        made = await run_in_threadpool(self.runs.copy, base)
        form = {**made.form, **{key: value for key, value in sent.items() if key in CHOICES}}
        if "input" in sent:
            names = json.loads(await self.reader.ask("look", run=made.id))["names"]
            form |= {f"{ROLE}{names.index(name)}": ["input"] for name in sent["input"] if name in names}
        title = f"{base.title}, {sent.get('called', ['changed'])[0]}"[:MAX_NAME]
        edits = (*made.edits, *sent.get("edit", ()))
        job = self.runs.save(replace(made, form=form, edits=edits, title=title))
        checked = json.loads(await self.reader.ask("check", run=job.id))
        if checked["problem"]:
            return await self._page(job, str(checked["problem"]), 400)
        self.queue.add(job, tuple(checked["words"]))
        return RedirectResponse(f"/runs/{job.id}", 303)

    async def compare(self, request: Request) -> Response:
        """Some runs beside each other."""
        jobs = [self.runs.load(name) for name in request.query_params.getlist("run")[:MAX_SIDES]]
        jobs = [job for job in jobs if job.state.is_over]
        if len(jobs) < 2:
            raise FileError("choose two runs that have an answer, to see them beside each other")
        sides = [(job, (await self.solver.ask("side", run=job.id)).decode()) for job in jobs]
        return HTMLResponse(pages.compare(sides))

    async def first(self, request: Request) -> Response:
        """A search that waits is the next."""
        self.queue.put_first(self._job(request))
        return RedirectResponse(f"/runs/{request.path_params['run']}", 303)

    async def note(self, request: Request) -> Response:
        """A note on a run."""
        text = (await _values(request)).get("note", [""])[0]
        self.runs.save(replace(self._job(request), note=text.strip()[:MAX_NOTE]))
        return RedirectResponse(f"/runs/{request.path_params['run']}", 303)

    async def rename(self, request: Request) -> Response:
        """Another name for a run."""
        job = self._job(request)
        title = (await _values(request)).get("title", [""])[0].strip()[:MAX_NAME] or job.title
        self.runs.save(replace(job, title=title))
        return RedirectResponse(f"/runs/{job.id}", 303)

    async def delete(self, request: Request) -> Response:
        """A run and its folder are deleted."""
        job = self._job(request)
        if job.state in (State.RUNNING, State.QUEUED):
            raise FileError("this search still runs; stop it first")
        await run_in_threadpool(self.runs.remove, job)
        return RedirectResponse("/", 303)

    async def delete_many(self, request: Request) -> Response:
        """Some runs are deleted; those that search or wait stay."""
        for name in (await _values(request)).get("run", []):
            job = self.runs.load(name)
            if job.state not in (State.RUNNING, State.QUEUED):
                await run_in_threadpool(self.runs.remove, job)
        return RedirectResponse("/", 303)

    async def state(self, request: Request) -> Response:
        """How far a search is."""
        job = self._job(request)
        if job.state is State.DRAFT:
            return JSONResponse({"state": job.state.value, "version": self.runs.version(job)})
        values = await run_in_threadpool(self.runs.progress, job)
        others = [other for other in self.runs.all() if other.id != job.id]
        ahead = sum(
            each.state is State.RUNNING or (each.state is State.QUEUED and each.since < job.since)
            for each in others
        )
        return JSONResponse({**values, "state": job.state.value, "ahead": ahead, "elapsed": _elapsed(job)})

    async def data(self, request: Request) -> Response:
        """The plots of what was read."""
        body = await self.reader.ask("drawing", run=self._job(request).id)
        return Response(body, media_type="application/json")

    async def calculate(self, request: Request) -> Response:
        """Something about the result: curves for other constants, two rivals side by side."""
        values = {key: value[0] for key, value in (await _values(request)).items()}
        job, what = self._ended(request), request.path_params["what"]
        body = await self.solver.ask(
            what, run=job.id, **{f"with_{key}": value for key, value in values.items()}
        )
        return Response(body, media_type="application/json")

    async def file(self, request: Request) -> Response:
        """A file to take away."""
        job, name = self._ended(request), request.path_params["name"]
        body = await self.solver.ask("file", run=job.id, name=name)
        kind = TYPES.get(Path(name).suffix, "text/plain; charset=utf-8")
        headers = {"Content-Security-Policy": SANDBOX} if name.endswith(".html") else {}
        if "view" not in request.query_params:
            headers["Content-Disposition"] = f'attachment; filename="{download_name(job, name)}"'
        return Response(body, media_type=kind, headers=headers)

    async def static(self, request: Request) -> Response:
        """Style and scripts."""
        name = request.path_params["name"]
        try:
            return Response(pages.static(name), media_type=TYPES[Path(name).suffix])
        except FileNotFoundError:
            return refused(404, "There is no such file.")

    def _job(self, request: Request) -> Job:
        return self.runs.load(request.path_params["run"])

    def _base(self, job: Job) -> Job | None:
        """Return the run that another was made from, if it is there and has an answer."""
        try:
            base = self.runs.load(job.base)
        except FileError:
            return None
        return base if base.state.is_over else None

    def _ended(self, request: Request) -> Job:
        job = self._job(request)
        if not job.state.is_over:
            raise FileError("this run has no result yet")
        return job

    async def _kept(self, request: Request, *, merge: bool = False) -> Job:
        """Return the draft with what the page sent, in place of all choices or, to merge, of some."""
        job = self._job(request)
        if job.state is not State.DRAFT:
            raise FileError("this search was started already; change its choices from its page")
        sent = await _values(request)
        form = {key: value for key, value in sent.items() if not key.startswith(EDITING)}
        return self.runs.save(replace(job, form={**job.form, **form} if merge else form))


CHOICES = {field.key for field in FIELDS}  # that a remedy may change
ROLE = "role."  # begins the names of the roles of columns
EDITING = ("edit", "crop.", "drop.", "subtract.", "multiply.", "hold.")  # inputs of the tools


def make_app(root: Path, *, token: str, port: int, kept: str = "") -> Starlette:
    """Return the application that keeps its runs in the folder `root`; see `Guard` on the last three."""
    studio = Studio(root)

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        studio.queue.begin()
        warming = asyncio.get_running_loop().create_task(studio.reader.begin())
        yield
        for task in (warming, *studio.warming):
            task.cancel()
        await studio.queue.end()
        await asyncio.gather(studio.reader.end(), studio.solver.end())

    run = "/runs/{run}"
    posts = (
        "form",
        "part",
        "start",
        "stop",
        "first",
        "resume",
        "again",
        "remedy",
        "note",
        "rename",
        "delete",
    )
    routes = [
        Route("/", studio.home),
        Route(UPLOAD, studio.upload, methods=["POST"]),
        Route("/compare", studio.compare),
        Route("/delete", studio.delete_many, methods=["POST"]),
        Route(run, studio.show),
        Route(f"{run}/edits", studio.edit, methods=["POST"]),
        *(Route(f"{run}/{name}", getattr(studio, name), methods=["POST"]) for name in posts),
        Route(f"{run}/state.json", studio.state),
        Route(f"{run}/data.json", studio.data),
        Route(f"{run}/calculate/{{what}}", studio.calculate, methods=["POST"]),
        Route(f"{run}/files/{{name}}", studio.file),
        Route("/static/{name}", studio.static),
    ]
    most = MAX_UPLOAD + OVERHEAD
    guard = Middleware(Guard, token=token, port=port, max_upload=most, upload_path=UPLOAD, kept=kept)
    handlers = {GodeError: _told, HTTPException: _unserved}
    return Starlette(routes=routes, middleware=[guard], exception_handlers=handlers, lifespan=life)


async def _told(request: Request, error: Exception) -> Response:
    """Answer with what is wrong: as JSON to a script, else as a page."""
    if (
        request.url.path.endswith(".json")
        or "/calculate/" in request.url.path
        or request.url.path.endswith("/form")
    ):
        return JSONResponse({"problem": in_words(str(error))}, 400)
    return HTMLResponse(pages.problem_page(in_words(str(error))), 400)


async def _unserved(request: Request, error: Exception) -> Response:
    """Answer what the server itself refuses, in our own words."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    sentence = {
        404: "There is no such page.",
        405: "This address takes no such request; go back to the runs.",
    }.get(
        status, f"What was sent cannot be read. At most {MAX_FILES} files are taken at once; send them again."
    )
    return HTMLResponse(pages.problem_page(sentence), status)


async def _given_files(form: FormData) -> dict[str, bytes]:
    """Return the files of an upload by their names; a pasted text and an example are files, too."""
    found: dict[str, bytes] = {}
    for item in form.getlist("file"):
        if isinstance(item, UploadFile) and item.filename:
            found[_new(item.filename, found)] = await item.read()
    text, example = form.get("text"), form.get("example")
    if isinstance(example, str) and example in pages.EXAMPLES:
        return {f"{example}.csv": (files("gode") / "data/examples" / f"{example}.csv").read_bytes()}
    if not found and isinstance(text, str) and text.strip():
        return {"pasted.txt": text.encode()}
    return found


def _new(name: str, found: dict[str, bytes]) -> str:
    return name if name not in found else f"{len(found)}-{name}"


async def _values(request: Request) -> dict[str, list[str]]:
    form = await request.form(max_files=0, max_fields=30_000, max_part_size=MAX_FORM)
    return {key: [v for v in form.getlist(key) if isinstance(v, str)] for key in form}


def _elapsed(job: Job) -> float | None:
    """Return the seconds since the state of a run began; None if that is not known."""
    try:
        return max((datetime.now() - datetime.fromisoformat(job.since)).total_seconds(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return None


def _told_of(folder: Path) -> tuple[str, str]:
    """Return the equation and the verdict in the record of a run, from its first lines."""
    try:
        head = HEAD.findall(read_head(folder / RECORD, 20_000))
        found = {key: str(json.loads(text)).encode(errors="replace").decode() for key, text in head}
    except ValueError:  # there is none, or none that can be read
        found = {}
    return found.get(b"equation", ""), found.get(b"verdict", "")

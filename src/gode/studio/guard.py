"""Who may ask: the own page, with the token, in requests of bounded size; and what answers may do."""

import hmac
import logging
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gode.templates import part

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SANDBOX = (
    "sandbox allow-scripts allow-downloads allow-modals"  # a report: no cookie, no request, its own policy
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
MAX_FORM = 2_000_000  # bytes of a request that is no upload
DIGITS = 15  # of the length of a request; more are too many bytes
logger = logging.getLogger(__name__)


NO_TOKEN = (
    "The token is missing or wrong; use the whole link that gode studio printed. Each start of gode studio "
    "prints a new one, in its terminal; the runs are all there."
)
FAILED = (
    "This failed in an unexpected way, which is a fault of gode; nothing of your runs is lost. What happened "
    "stands in the terminal in which gode studio runs."
)
BACK = "back"  # a link to the runs


class TooLarge(Exception):
    """A request brings more than is read."""


class Guard:
    """Lets requests of the own page through, and refuses others in a sentence."""

    def __init__(
        self, app: ASGIApp, *, token: str, port: int, max_upload: int, upload_path: str, kept: str = ""
    ) -> None:
        """Take the application to guard.

        Args:
            token: of the link of this start.
            kept: what a browser keeps that came by the link, the same at each start; by default the token.
        """
        self.app, self.token, self.port = app, token, port
        self.kept = kept or token
        self.max_upload, self.upload_path = max_upload, upload_path
        self.cookie = f"gode-{port}"
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no other protocol is spoken
        response = self._refusal(scope)
        if response is not None:
            await response(scope, receive, _guarded(send))
            return
        most = self.max_upload if scope["path"] == self.upload_path else MAX_FORM
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, _limited(receive, most), _guarded(noted))
        except TooLarge:
            await refused(413, _too_large(most))(scope, receive, _guarded(send))
        except Exception:  # the last resort: whatever it was, the page says so, and the server lives on
            if begun:
                raise
            logger.exception("a request of the page failed")
            await refused(500, FAILED, BACK)(scope, receive, _guarded(send))

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the answer to a request that may not pass; None where it may."""
        headers = Headers(scope=scope)
        if headers.get("host", "") not in self.hosts:
            return refused(
                403, "This page answers under its own address only; use the link that was printed."
            )
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0].strip()
        given = given.rpartition("token=")[2]  # the whole link may have been pasted
        if scope["method"] == "GET" and given and hmac.compare_digest(given.encode(), self.token.encode()):
            response = RedirectResponse(_own(scope["path"]), 303)
            response.set_cookie(self.cookie, self.kept, httponly=True, samesite="strict")
            return response
        if not self._has_token(headers.get("cookie", "")):
            return refused(403, NO_TOKEN, _own(scope["path"]) if scope["method"] == "GET" else "/")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return refused(405, "This page only reads and posts.")
        own = {f"http://{host}" for host in self.hosts}
        site = headers.get("sec-fetch-site", "same-origin")
        foreign = (
            headers.get("origin", "") not in own
            if "origin" in headers
            else site not in ("same-origin", "none")
        )
        if (scope["method"] == "POST" or "origin" in headers) and foreign:
            return refused(403, "The request came from another page; only the studio itself may send one.")
        most = self.max_upload if scope["path"] == self.upload_path else MAX_FORM
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > DIGITS or int(length) > most:
            return refused(413, _too_large(most))
        return None

    def _has_token(self, text: str) -> bool:
        try:
            found = SimpleCookie(text).get(self.cookie)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), self.kept.encode())


def refused(status: int, sentence: str, way: str = "") -> Response:
    """Return a page that refuses a request in a sentence.

    Args:
        way: the path to which a form for the link that was printed leads, or `BACK`.
    """
    return HTMLResponse(part("gode/studio/templates/refused.html", "refused", sentence, way), status)


def _own(path: str) -> str:
    """Return a path that no browser takes for the address of another host, as it would //host."""
    return "/" + path.lstrip("/\\")


def _too_large(most: int) -> str:
    return f"At most {most // 10**6} MB are read; send every tenth row, or only the columns that are needed."


def _limited(receive: Receive, most: int) -> Receive:
    """Return `receive` that counts what comes and stops when it is too much."""
    size = 0

    async def counted() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > most:
            raise TooLarge
        return message

    return counted


def _guarded(send: Send) -> Send:
    """Return `send` that adds the headers of safety to every answer."""

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Content-Security-Policy", POLICY)
        await send(message)

    return with_headers

"""A publisher's web site on this machine: a rules page, texts that it links to, what was asked."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

PAGE = """<!DOCTYPE html>
<html lang="en"><head><title>Rules | Magic: The Gathering</title><script>var a = "<a>";</script>
</head><body><nav><a href="/en">Home</a> <a>no link</a> <a href="http://[">none either</a></nav>
<h2>Comprehensive Rules</h2><p>{links}</p></body></html>"""


class Publisher(ThreadingHTTPServer):
    """Gives the bytes in `files` by path, and notes in `asked` which paths were asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.missing_bytes = 0  # so many more are promised than come
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.page = f"{self.address}/en/rules"

    def link(self, *targets: str) -> None:
        """Have the rules page link to these."""
        links = " ".join(
            f'<a class="cta" href="{target}"><span>TXT</span></a>' for target in targets
        )
        self.files["/en/rules"] = PAGE.format(links=links).encode()

    def publish(self, name: str, text: str) -> None:
        """Put a text where the publisher does, linked to as PDF, Word and plain text."""
        target = f"/2026/downloads/{quote(name)}"
        self.files[target] = text.encode("utf-8-sig")
        stem = target.removesuffix(".txt")
        self.link(*(f"{self.address}{stem}.{kind}" for kind in ("pdf", "docx", "txt")))


class _Handler(BaseHTTPRequestHandler):
    server: Publisher

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        body = self.server.files.get(self.path)
        self.send_response(404 if body is None else 200)
        promised = len(body or b"") + (self.server.missing_bytes if "downloads" in self.path else 0)
        self.send_header("Content-Length", str(promised))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        pass


def serve(publisher: Publisher) -> threading.Thread:
    """Answer in a thread of its own until `publisher.shutdown()`."""
    thread = threading.Thread(target=publisher.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    return thread

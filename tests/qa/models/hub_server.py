"""A server on the loopback address that gives a file as the Hugging Face hub does."""

import hashlib
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class HubServer(ThreadingHTTPServer):
    """Gives `data` for every path; notes each request as (method, path, first byte)."""

    daemon_threads = True

    def __init__(self, data):
        super().__init__(("127.0.0.1", 0), Handler)
        self.data, self.requests = data, []
        self.etag = hashlib.sha256(data).hexdigest()
        self.status = 200  # another one is an error
        self.break_after = []  # per GET: the bytes after which the connection breaks off
        self.ranges = self.sizes = True
        self.pause = None  # an event that a GET waits for after its first bytes
        self.address = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}).start()

    def starts(self):
        """The first byte that each GET asked for."""
        return [start for method, _, start in self.requests if method == "GET"]

    def close(self):
        if self.pause:
            self.pause.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        pass  # a client that hangs up is part of the tests


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.server.requests.append(("HEAD", self.path, 0))
        self.send_head(self.server.status, len(self.server.data))

    def do_GET(self):
        if self.path.startswith("/api/"):  # what the client may want to know besides the file
            self.send_error(404)
            return
        requested = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start = int(requested[1]) if requested else 0
        self.server.requests.append(("GET", self.path, start))
        changed = self.headers.get("If-Range") not in (None, f'"{self.server.etag}"')
        if self.server.status != 200:
            self.send_head(self.server.status, 0)
            return
        if not self.server.ranges or changed:
            start = 0
        body, size = self.server.data[start:], len(self.server.data)
        self.send_head(206 if start else 200, len(body), start, size)
        if self.server.break_after:
            body = body[: self.server.break_after.pop(0)]
        if self.server.pause and not self.server.pause.is_set():
            if not start:
                self.wfile.write(body[:100])
                body = body[100:]
            self.server.pause.wait(30)
        self.wfile.write(body)

    def send_head(self, status, length, start=0, size=0):
        self.send_response(status)
        if self.server.sizes:
            self.send_header("Content-Length", str(length))
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
        if self.server.etag:
            self.send_header("ETag", f'"{self.server.etag}"')
        self.send_header("X-Repo-Commit", "a" * 40)
        self.end_headers()

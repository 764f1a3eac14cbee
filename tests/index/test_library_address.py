"""A text is added from an address, and an answer that is none is refused."""

import contextlib
import http.server
import threading
import time
from pathlib import Path

import pytest
from refusals import refused

from index import fetch, library, parsers


@pytest.fixture
def server(small_release, monkeypatch):
    """A web server on this machine; gives its address."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    body = small_release("July 4, 2025").encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/moved/rules.txt":
                self.send_response(302)
                self.send_header("Location", "/rules.txt")
            elif self.path == "/loop.txt":
                self.send_response(302)
                self.send_header("Location", "/loop.txt")
            elif self.path == "/out.txt":
                self.send_response(302)
                self.send_header("Location", Path(__file__).as_uri())
            elif self.path == "/missing.txt":
                self.send_response(404)
            else:
                self.send_response(200)
                if self.path == "/short.txt":
                    self.send_header("Content-Length", str(len(body) + 1))
                elif self.path == "/rules.txt":
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.path == "/slow.txt":
                    with contextlib.suppress(OSError):
                        for byte in body:
                            self.wfile.write(bytes([byte]))
                            time.sleep(0.02)
                    return
                self.wfile.write(b"\n" if self.path == "/blank.txt" else body)
                return
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


@pytest.mark.parametrize("page", ["/rules.txt", "/moved/rules.txt", "/without-length.txt"])
def test_a_text_is_added_from_an_address(page, server):
    document, parsed = library.add(server + page)
    assert (document.edition, len(parsed.rules)) == ("2025-07-04", 8)
    assert document.source == server + page
    assert library.load().current.rule("702.2a").edition == "2025-07-04"


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("/missing.txt", "404"),
        ("/short.txt", "bytes"),
        ("/loop.txt", "Could not fetch"),
        ("/out.txt", "Could not fetch"),
        ("/blank.txt", "is empty"),
    ],
)
def test_a_bad_answer_is_refused(page, sentence, server, home):
    assert sentence in refused(server + page, home)


def test_an_answer_larger_than_the_largest_is_refused(server, home, monkeypatch):
    monkeypatch.setattr(parsers, "LARGEST", 1000)
    assert "is larger than" in refused(f"{server}/rules.txt", home)
    assert "is larger than" in refused(f"{server}/without-length.txt", home)


def test_an_answer_that_trickles_in_is_given_up(server, home, monkeypatch):
    monkeypatch.setattr(fetch, "_SECONDS", 0.4)
    started = time.monotonic()
    assert "Could not fetch" in refused(f"{server}/slow.txt", home)
    assert time.monotonic() - started < 5


def test_an_address_where_nobody_answers_is_refused(home):
    assert "Could not fetch" in refused("http://127.0.0.1:1/rules.txt", home)


@pytest.mark.parametrize("address", ["file:///rules.txt", "ftp://127.0.0.1/rules.txt", "://"])
def test_only_web_addresses_are_fetched(address, home):
    assert "neither a file nor an http(s) address" in refused(address, home)


@pytest.mark.parametrize("address", ["http://", "http://[", "http://a b/", "http://127.0.0.1/é"])
def test_an_address_that_is_none_is_refused(address, home):
    assert "Could not fetch" in refused(address, home)

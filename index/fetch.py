"""Downloads a file from a web address, with limits on time and size.

>>> fetch("https://example.org/rules.txt", largest=20_000_000)
"""

import time
import urllib.parse

from index.errors import SticklerError

_SECONDS = 60.0
_AGENT = "Stickler (an offline rules assistant)"  # some servers require a user agent
_KEPT = "%/:?=&#+,;@!$'()*~[]"  # what an address holds beside letters; the rest is encoded


def fetch(url: str, largest: int) -> bytes:
    """The bytes at an address; at most one more than `largest` is read, to detect larger files."""
    import http.client
    import urllib.request

    if not url.startswith(("http://", "https://")):
        raise SticklerError(
            f"{url} is neither a file nor an http(s) address: give one or the other."
        )
    ends = time.monotonic() + _SECONDS
    chunks, size = [], 0
    try:
        request = urllib.request.Request(encoded(url), headers={"User-Agent": _AGENT})
        with urllib.request.urlopen(request, timeout=_SECONDS / 4) as answer:
            while size <= largest and (chunk := answer.read1(1 << 16)):
                chunks.append(chunk)
                size += len(chunk)
                if time.monotonic() > ends:
                    raise TimeoutError(f"not done in {_SECONDS:.0f} seconds")
            expected = answer.headers["Content-Length"]
            if size <= largest and expected and size < int(expected):
                raise OSError(f"only {size} of {expected} bytes arrived")
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise SticklerError(
            f"Could not fetch {url} ({_reason(error)})",
            "check the address and your connection",
            "save the file with a browser and add that",
        ) from None
    return b"".join(chunks)


def encoded(url: str) -> str:
    """An address as servers expect it: a space becomes %20, what is encoded already stays."""
    return urllib.parse.quote(url.strip(), safe=_KEPT)


def _reason(error: Exception) -> str:
    """Why it failed; for a network error, the system's own message."""
    inner = getattr(error, "reason", None)
    return str(inner.strerror or inner) if isinstance(inner, OSError) else str(error)

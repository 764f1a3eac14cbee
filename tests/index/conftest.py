"""What the index's tests share: a release in a file, a disk that fills up."""

import contextlib
import resource

import pytest

pytest.register_assert_rewrite("refusals")  # so that its asserts show what differs, as a test's do


@pytest.fixture
def text_file(tmp_path, small_release):
    """Writes a release that took effect on the day named, and gives its path."""

    def write(day="July 4, 2025", name="rules.txt"):
        path = tmp_path / name
        path.write_text(small_release(day), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def disk_full():
    """Within it no file can grow beyond a size: stands in for a disk that fills up."""

    @contextlib.contextmanager
    def limit(size):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limit

"""What the index's tests share: a release in a file."""

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

"""A folder for each visitor's files."""

import pytest

from index.errors import SticklerError
from page import folders
from page.folders import Folders


def test_each_visitor_has_a_folder_that_nobody_can_guess(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    own = Folders()
    with own.used("me") as mine, own.used("you") as yours:
        assert mine != yours
        assert mine.parent == tmp_path
        assert len(mine.name) > 32
        assert mine.stat().st_mode & 0o077 == 0
        with pytest.raises(SticklerError, match="another file in progress"), own.used("me"):
            pass
        own.leave("me")
        assert mine.exists()  # until what is done there has ended
    assert not mine.exists()
    assert yours.exists()
    own.leave("you")
    assert not list(tmp_path.glob("work-*"))


def test_a_folder_that_is_long_unused_goes(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    own = Folders()
    with own.used("me") as mine:
        pass
    monkeypatch.setattr(folders, "IDLE_SECONDS", -1.0)
    with own.used("you"):
        assert not mine.exists()

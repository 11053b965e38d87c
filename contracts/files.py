from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from clawmem.contracts.base import Contract
from clawmem.ports.errors import FileNotCreated, SourceMissing, SourceUnreadable
from clawmem.ports.files import FileSource, NewFiles
from clawmem.ports.records import Scan

Place = Callable[[Mapping[str, bytes]], str]  # writes a tree into a new folder, and returns its absolute path
Link = Callable[[str, str, str], None]
Seal = Callable[[str, str], None]


class FileSourceContract(Contract):
    """Scan of a file tree, and reading of one file. Supply ``files`` and ``place``."""

    def test_every_wanted_file_sorted(self, files: FileSource, place: Place) -> None:
        """All files at any depth are returned sorted by their whole path, compared as text."""
        tree = "a.md,a/b.md,a-b/c.md,B.md,a/b/c/d.md,über/東京.md,with space.md,.hidden/x".split(",")
        root = place(dict.fromkeys(tree, b"x"))

        assert paths(scan(files, root)) == sorted(tree)

    def test_stamps_say_size_and_time(self, files: FileSource, place: Place) -> None:
        """A stamp holds the size in bytes and the time of modification in nanoseconds."""
        root = place({"a.md": "é🐝".encode(), "empty.md": b""})

        stamps = [file.stamp for file in scan(files, root).files]

        assert [stamp.size for stamp in stamps] == [6, 0]
        assert all(type(stamp.mtime_ns) is int and stamp.mtime_ns > 0 for stamp in stamps)

    def test_dotted_names_are_asked_first(self, files: FileSource, place: Place) -> None:
        """In each folder, files and folders whose names begin with a dot are asked for before the others."""
        root = place({"!a.md": b"", ".z": b"", ".y/b.md": b"", "c/!d.md": b"", "c/.e": b""})
        asked: list[str] = []

        files.scan(root, enter=noting(asked), wanted=noting(asked))

        assert set(asked[:2]) == {".y", ".z"}
        assert asked.index("c/.e") < asked.index("c/!d.md")

    def test_enter_prunes_unseen(self, files: FileSource, place: Place) -> None:
        """A folder that `enter` refuses is not read: no file below it is passed to `wanted` or returned."""
        root = place({"keep/a.md": b"", "skip/b.md": b"", "skip/deep/c.md": b"", "keep/skip/d.md": b""})
        entered: list[str] = []
        wanted: list[str] = []

        found = files.scan(root, enter=noting(entered, lambda path: path != "skip"), wanted=noting(wanted))

        assert sorted(entered) == ["keep", "keep/skip", "skip"]
        assert sorted(wanted) == paths(found) == ["keep/a.md", "keep/skip/d.md"]

    @pytest.mark.parametrize("below", ["/missing", "/a.md"])
    def test_root_that_is_no_folder(self, files: FileSource, place: Place, below: str) -> None:
        """A root that is missing or a file gives no files and `root_exists=False`."""
        root = place({"a.md": b"x"}) + below

        found = scan(files, root)

        assert (found.files, found.root_exists) == ((), False)

    @pytest.mark.parametrize(
        "content", [b"", b"plain\n", b"\xef\xbb\xbfwith\r\nends\r", b"\xff\xfe\x00", b"x" * 100_000]
    )
    def test_bytes_come_back_exactly(self, files: FileSource, place: Place, content: bytes) -> None:
        """A file's bytes are returned unchanged."""
        assert files.read(place({"deep/a b.md": content}), "deep/a b.md") == content

    @pytest.mark.parametrize("path", ["missing.md", "folder/missing.md", "folder", "a.md/b.md"])
    def test_what_is_no_file(self, files: FileSource, place: Place, path: str) -> None:
        """A missing file raises `SourceMissing`, a folder another `SourceUnreadable`, which names the path."""
        root = place({"a.md": b"x", "folder/b.md": b"x"})

        with pytest.raises(SourceUnreadable) as refused:
            files.read(root, path)

        assert isinstance(refused.value, SourceMissing) == (path != "folder")
        assert refused.value.path.endswith(path)
        assert refused.value.reason

    @pytest.mark.parametrize("path", ["../secret.md", "deep/../../secret.md", "../inside-not/x.md"])
    def test_outside_of_the_root(self, files: FileSource, place: Place, path: str) -> None:
        """An existing file outside the root is refused, even in a folder whose name begins like the root's."""
        outer = place({"inside/deep/a.md": b"x", "secret.md": b"no", "inside-not/x.md": b"no"})

        with pytest.raises(SourceUnreadable):
            files.read(outer + "/inside", path)


class FileLinkContract(Contract):
    """
    Symbolic links. Supply ``files``, ``place`` and ``link``.

    ``link(root, path, target)`` makes ``root/path`` a link to ``root/target``.
    """

    def test_links_are_not_followed(self, files: FileSource, place: Place, link: Link) -> None:
        """
        Links to files and folders, dangling ones too, are not followed.

        They are passed to `wanted` and `enter`, and named in ``links`` if these accept them.
        """
        root = place({"a.md": b"x", "folder/b.md": b"y"})
        for name, target in (("file.md", "a.md"), ("shortcut", "folder"), ("nowhere.md", "missing")):
            link(root, name, target)
        asked: list[str] = []

        found = files.scan(root, enter=noting(asked), wanted=always)

        assert paths(found) == ["a.md", "folder/b.md"]
        assert {path.removesuffix("/") for path in found.links} == {"file.md", "shortcut", "nowhere.md"}
        assert sorted(asked) == ["folder", "shortcut"]

    @pytest.mark.parametrize("path", ["door.md", "door/secret.md"])
    def test_link_out_of_the_root_is_not_read(
        self, files: FileSource, place: Place, link: Link, path: str
    ) -> None:
        """A file outside the root is not read through a link inside it, to the file or to its folder."""
        outer = place({"inside/a.md": b"x", "elsewhere/secret.md": b"no"})
        link(outer, "inside/door.md", "elsewhere/secret.md")
        link(outer, "inside/door", "elsewhere")

        with pytest.raises(SourceUnreadable):
            files.read(outer + "/inside", path)


class FileSealContract(Contract):
    """
    Files and folders without read permission. Supply ``files``, ``place`` and ``seal``.

    ``seal(root, path)`` removes the process's permission to read a file or folder. On a machine where that is
    impossible (a superuser can read everything) the fixture skips the test with a reason.
    """

    def test_what_is_sealed_is_named(self, files: FileSource, place: Place, seal: Seal) -> None:
        """
        A folder that cannot be listed is reported as unreadable, and the rest is scanned.

        An unreadable file is found by a scan, which opens no files; reading it is refused.
        """
        root = place({"a.md": b"x", "closed/b.md": b"y", "open/c.md": b"z"})
        seal(root, "closed")
        seal(root, "a.md")

        found = scan(files, root)

        assert (paths(found), found.unreadable) == (["a.md", "open/c.md"], ("closed",))
        assert found.root_exists
        with pytest.raises(SourceUnreadable):
            files.read(root, "a.md")


def scan(files: FileSource, root: str) -> Scan:
    """Return a scan that accepts all folders and files."""
    return files.scan(root, enter=always, wanted=always)


def always(path: str) -> bool:
    """Return True."""
    return True


def noting(asked: list[str], answer: Callable[[str], bool] = always) -> Callable[[str], bool]:
    """Return a predicate that answers like *answer* and appends each path it is called with to *asked*."""

    def ask(path: str) -> bool:
        asked.append(path)
        return answer(path)

    return ask


def paths(found: Scan) -> list[str]:
    """Return the paths of a scan's files, in its order."""
    return [file.path for file in found.files]


NAMES = ("a.md", "a-2.md", "a-3.md")


class NewFilesContract(Contract):
    """Creation of files. Supply ``new_files``, and ``root``, an empty folder that it can write to."""

    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        """Return an empty folder."""
        return tmp_path

    def test_the_first_free_name(self, new_files: NewFiles, root: Path) -> None:
        """Missing folders are created, and a file that has a name keeps its text."""
        (root / "in" / "a-2.md").mkdir(parents=True)
        (root / "in" / "a.md").symlink_to("nowhere")

        assert new_files.create(str(root), "in", NAMES, "Straße\n") == "in/a-3.md"
        assert new_files.create(str(root), "in/deep", NAMES, "second") == "in/deep/a.md"

        assert (root / "in" / "a-3.md").read_bytes() == "Straße\n".encode()
        assert (root / "in" / "a.md").is_symlink()

    def test_nothing_but_the_file_remains(self, new_files: NewFiles, root: Path) -> None:
        """A draft is not left, nor a file that was removed; removal of a file that is gone does nothing."""
        path = new_files.create(str(root), "", NAMES, "text")
        assert new_files.rewrite(str(root), path, lambda text: f"{text}ual")
        assert not new_files.rewrite(str(root), path, lambda text: None)
        assert (root / path).read_text("utf-8") == "textual"
        assert [path.name for path in root.iterdir()] == [path]
        for _ in range(2):
            new_files.remove(str(root), path)
        assert list(root.iterdir()) == []

    @pytest.mark.parametrize("folder", ["../elsewhere", "link", "file"])
    def test_no_place_for_a_file(self, new_files: NewFiles, root: Path, folder: str) -> None:
        """A folder outside of the root, also through a link, and a file as a folder are refused."""
        inside = root / "inside"
        inside.mkdir()
        (inside / "link").symlink_to(root)
        (inside / "file").write_text("text", "utf-8")
        before = sorted(map(str, root.rglob("*")))

        with pytest.raises(FileNotCreated, match="Nothing was written"):
            new_files.create(str(inside), folder, NAMES, "text")

        assert sorted(map(str, root.rglob("*"))) == before

    def test_a_missing_root_is_not_created(self, new_files: NewFiles, root: Path) -> None:
        """A root that is gone may be an unmounted disk."""
        with pytest.raises(FileNotCreated, match="not mounted"):
            new_files.create(str(root / "away"), "in", NAMES, "text")
        assert list(root.iterdir()) == []

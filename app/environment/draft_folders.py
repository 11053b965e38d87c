"""New files in a folder: all of them get their names together, and none replaces another file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from clawmem.app.environment.private_files import draft_path, private_umask, sweep_drafts
from clawmem.ports.errors import InvalidInput

_NAMED = 3  # files that a refusal names


@contextmanager
def draft_of_folder(target: Path) -> Iterator[Path]:
    """
    Yield an empty folder, whose files get their names in *target* after the block.

    A file that *target* has with the same bytes stays. If the block or a step after it fails, *target* has no new file.

    Raises:
        InvalidInput: Other files have these names.
        OSError: A file cannot be written.
    """
    from shutil import rmtree  # not needed by other users of this package

    place = target / "export" if target.is_dir() else target
    sweep_drafts(place)
    draft = draft_path(place)
    try:
        with private_umask():
            draft.mkdir()
            yield draft
            if place == target:
                draft.replace(_without_file(target))
            else:
                _move_files(draft, target)
    finally:
        rmtree(draft, ignore_errors=True)


def _without_file(target: Path) -> Path:
    """Delete the file *target*, if there is one, and return the path."""
    target.unlink(missing_ok=True)
    return target


def _move_files(draft: Path, target: Path) -> None:
    names = sorted(one.relative_to(draft) for one in draft.rglob("*") if not one.is_dir())
    if taken := [name for name in names if not _is_free(draft / name, target / name, target)]:
        more = f" and {len(taken) - _NAMED} more" if len(taken) > _NAMED else ""
        raise InvalidInput(
            "FILE_EXISTS",
            f"{target} has other files of these names: {', '.join(map(str, taken[:_NAMED]))}{more}. Nothing was "
            "changed. Choose another folder.",
        )
    made: list[Path] = []
    try:
        for name in names:
            place = target / name
            missing = [one for one in reversed(place.parents) if not one.exists()]
            place.parent.mkdir(parents=True, exist_ok=True)
            made += missing
            if not place.exists():
                (draft / name).rename(place)
                made.append(place)
    except OSError:
        for one in reversed(made):
            with suppress(OSError):
                one.rmdir() if one.is_dir() else one.unlink()
        raise


def _is_free(new: Path, place: Path, target: Path) -> bool:
    """Whether *place* below *target* has no file, or the same one as *new*, and each folder above can be used."""
    folders = [one for one in place.parents if one.is_relative_to(target) and one != target]
    if any(one.is_symlink() or (one.exists() and not one.is_dir()) for one in folders):
        return False
    if place.is_symlink() or (place.exists() and not place.is_file()):
        return False
    return not place.exists() or place.read_bytes() == new.read_bytes()

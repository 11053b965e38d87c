"""New files in a folder: all of them get their names together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree

from clawmem.app.environment.private_files import draft_path, private_umask, sweep_drafts
from clawmem.ports.errors import InvalidInput

_REPLACED = ".replaced"
_NAMED = 3  # files that a refusal names


@contextmanager
def draft_of_folder(target: Path, *, replaces: bool = False) -> Iterator[Path]:
    """
    Yield an empty folder, whose files get their names in *target* after the block.

    A file that *target* has with the same bytes stays. If the block or a step after it fails, *target* is as before.

    Args:
        replaces: Whether other files of these names are replaced; folders and links never are.

    Raises:
        InvalidInput: Something else has one of these names.
        OSError: A file cannot be written.
    """
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
                _move_files(draft, target, replaces=replaces)
    finally:
        rmtree(draft, ignore_errors=True)


def _without_file(target: Path) -> Path:
    """Delete the file *target*, if there is one, and return the path."""
    target.unlink(missing_ok=True)
    return target


def _move_files(draft: Path, target: Path, *, replaces: bool) -> None:
    names = sorted(one.relative_to(draft) for one in draft.rglob("*") if not one.is_dir())
    others = [name for name in names if not _has_same(draft / name, target / name)]
    if taken := [name for name in others if not _is_free(target / name, target, replaces=replaces)]:
        more = f" and {len(taken) - _NAMED} more" if len(taken) > _NAMED else ""
        remedy = "Choose another folder." if replaces else "Choose another folder, or add --force."
        raise InvalidInput(
            "FILE_EXISTS",
            f"{target} has other files of these names: {', '.join(map(str, taken[:_NAMED]))}{more}. Nothing was "
            f"changed. {remedy}",
        )
    made: list[Path] = []
    replaced = draft / _REPLACED
    try:
        for name in others:
            place = target / name
            missing = [one for one in reversed(place.parents) if not one.exists()]
            place.parent.mkdir(parents=True, exist_ok=True)
            made += missing
            if place.exists():
                (replaced / name).parent.mkdir(parents=True, exist_ok=True)
                place.rename(replaced / name)
            made.append(place)
            (draft / name).rename(place)
    except BaseException:
        for one in reversed(made):
            before = replaced / one.relative_to(target)
            with suppress(OSError):
                before.replace(one) if before.is_file() else one.rmdir() if one.is_dir() else one.unlink()
        raise


def _has_same(new: Path, place: Path) -> bool:
    """Whether *place* is a file with the bytes of *new*."""
    return place.is_file() and not place.is_symlink() and place.read_bytes() == new.read_bytes()


def _is_free(place: Path, target: Path, *, replaces: bool) -> bool:
    """Whether *place* below *target* has nothing, or a file if *replaces*, and each folder above can be used."""
    folders = [one for one in place.parents if one.is_relative_to(target) and one != target]
    if any(one.is_symlink() or (one.exists() and not one.is_dir()) for one in folders):
        return False
    return not place.is_symlink() and (not place.exists() or (replaces and place.is_file()))

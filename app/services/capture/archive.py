"""Archive of transcripts next to the vault: redacted, compressed and bounded; what is forgotten is deleted from it."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from filelock import FileLock

from clawmem.app.environment.private_files import PRIVATE, make_folder, write_whole
from clawmem.app.services.capture.session import Session
from clawmem.domain.security.redaction import redact_parts
from clawmem.ports.json_text import read_json
from clawmem.ports.sessions import CaptureStore, Cursor, session_key
from clawmem.ports.storage import Transactions

READER = "transcript-archive"
MOST_READ = 8_000_000  # bytes of a transcript at a time, which takes five seconds; the next call continues
TOGETHER = 100  # lines that are redacted as one text
LONGEST_WORD, LONGEST_NAME = 4000, 200  # characters; a longer word is an image or other encoded data
FORGOTTEN = "forgotten"  # empty file that says that something of a session was forgotten
# Members with names, by which `mine` recognises a message. A token in them is not a secret.
_NAMES = frozenset(
    "id uuid parentUuid leafUuid sessionId session_id promptId requestId call_id tool_use_id timestamp startTime "
    "lastUpdated type role cwd projectHash".split()
)
_WORD, _ESCAPE = r"[^\W_]+", r'\\[nrt"]'
_BETWEEN = rb'(?:\\[nrt"]|[\W_]){1,12}'  # words in JSON, with the signs of Markdown


@dataclass(frozen=True, slots=True)
class TranscriptArchive:
    """
    One file for each session, in the format of its client, so that `mine` reads it.

    Args:
        most_mb: Size limit in megabytes; beyond it the transcripts that were changed longest ago are deleted.
    """

    folder: Path
    most_mb: int
    captures: CaptureStore
    transactions: Transactions

    def store(self, session: Session) -> None:
        """
        Add what is new in the transcript of *session*, at most `MOST_READ` bytes. To be called by one process at a time.
        Secrets, encoded data and damaged lines are left out.

        Raises:
            OSError: the transcript or the archive cannot be used.
            VaultError: the part is added again by the next call, which `mine` does not notice.
        """
        source, key = Path(session.transcript), session_key(session.id)
        file = self.folder / key / f"{source.name}.gz"
        mark = file.with_name(FORGOTTEN)
        if self.most_mb and source.suffix == ".jsonl" and source.is_file() and not mark.exists():
            seen = self.captures.cursor(session.id, READER).offset if file.exists() else 0
            lines = list[bytes]()
            with source.open("rb") as transcript:
                transcript.seek(max(0, seen - 1))
                end = offset = transcript.seek(seen if transcript.read(1) == b"\n" else 0)  # rewritten
                while end < offset + MOST_READ and (line := transcript.readline()).endswith(b"\n"):
                    lines.append(line)
                    end += len(line)
            if lines:
                written, before = "", ""  # a secret may follow the text that announces it
                for start in range(0, len(lines), TOGETHER):
                    records, texts = [], [before]
                    for line in lines[start : start + TOGETHER]:
                        with suppress(ValueError, RecursionError):
                            record, parts = read_json(line), list[str]()
                            _changed(record, parts.append)
                            records.append(record)
                            texts += parts
                    for place, text in enumerate(texts):
                        if len(text) > LONGEST_WORD and len(text[:LONGEST_WORD].split()) == 1:
                            texts[place] = f"[left out: {len(text)} characters]"
                    redact_next = partial(next, iter(redact_parts(texts)[1:]))
                    before = texts[-1]
                    for record in records:
                        written += f"{json.dumps(_changed(record, redact_next), ensure_ascii=False)}\n"
                make_folder(file.parent)
                new = gzip.compress(written.encode())
                with FileLock(self.folder / ".lock", is_singleton=False, mode=PRIVATE):
                    if not mark.exists():  # forgotten meanwhile
                        write_whole(file, (file.read_bytes() if seen else b"") + new)
                with self.transactions.writing():
                    self.captures.advance(session.id, READER, Cursor(offset=end))
        left = self.most_mb * 1_000_000
        for archived in self.files():
            left -= archived.stat().st_size
            if left < 0:
                archived.unlink(missing_ok=True)

    def files(self) -> list[Path]:
        """Return the archived transcripts, the one that was changed last first."""
        files = {file: file.stat().st_mtime_ns for file in self.folder.glob("*/*.gz")}
        return sorted(files, key=lambda file: (-files[file], file))

    def holding(self, texts: Iterable[str]) -> list[Path]:
        """Return the transcripts that contain the words of one of *texts* in a row, or that cannot be read."""
        by_word = defaultdict[str, list[list[str]]](list)  # the words of each text by the longest of them
        for text in texts:
            if words := re.findall(_WORD, text):
                by_word[max(words, key=len).casefold()].append(words)
        searching = cache(partial(re.compile, flags=re.IGNORECASE))

        def holds(line: bytes) -> bool:
            words = re.findall(_WORD, re.sub(_ESCAPE, " ", line.decode("utf-8", "replace")).casefold())
            known = (row for word in by_word.keys() & words for row in by_word[word])
            patterns = (_BETWEEN.join(re.escape(word.encode()) for word in row) for row in known)
            return any(searching(pattern).search(line) for pattern in patterns)

        holding = []
        for file in self.files() if by_word else ():
            try:
                with gzip.open(file) as lines:
                    is_holding = any(map(holds, lines))
            except (OSError, EOFError, zlib.error):
                is_holding = file.exists()
            holding += [file] if is_holding else []
        return holding

    def forget(self, texts: Iterable[str]) -> list[str]:
        """Delete the transcripts that contain one of *texts*, which are not stored again; return their paths."""
        files = self.holding(texts)
        for file in files:
            with FileLock(self.folder / ".lock", is_singleton=False, mode=PRIVATE):
                file.with_name(FORGOTTEN).touch(PRIVATE)
                file.unlink(missing_ok=True)
        return [*map(str, files)]


def _changed(value: Any, change: Callable[[str], object], member: str = "") -> Any:
    """Return a JSON *value* with every text changed, except for short names."""
    if isinstance(value, str):
        return value if member in _NAMES and len(value) <= LONGEST_NAME else change(value)
    if isinstance(value, list):
        return [_changed(part, change, member) for part in value]
    if isinstance(value, dict):
        return {name: _changed(part, change, name) for name, part in value.items()}
    return value

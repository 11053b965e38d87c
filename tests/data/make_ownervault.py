"""
Write the bulk of ``ownervault``: long logs in which few lines matter, and junk in which none does.

Everything else there is written by hand. Run it from anywhere; it writes the same bytes every time::

    python tests/data/make_ownervault.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path

VAULT = Path(__file__).parent / "ownervault"

# What happened on single days, hand-written; the days around them are as dull as such logs are.
HIVE_REMARKS = {
    date(
        2025, 5, 17
    ): "A: entrance narrowed, robbers from the neighbour's hives. Mouse under B's floor, evicted.",
    date(
        2025, 6, 14
    ): "First super on A. The scale under A was off by 2.4 kg since April, corrected with a bag of sugar.",
    date(
        2025, 9, 6
    ): "Fed B: six litres of Apiinvert. B raises a new queen from an emergency cell, cell seen.",
    date(2025, 9, 27): "B's young queen lays, late. Seen on the third frame, thin and quick.",
    date(2026, 2, 14): "11 degrees, cleansing flight. Snow in front of A is yellow. From B only a low hum.",
    date(2026, 5, 2): "A: three frames of drone brood cut. Bought the white paint for this year's queens.",
    date(
        2026, 6, 20
    ): "C draws comb well. Asian hornet seen at the entrance of C, reported to the Waarneming site.",
}
SAILING_REMARKS = {
    date(2025, 5, 18): "Maiden trip. Ida seasick on a lake of one metre depth.",
    date(2025, 7, 6): "To the island with Daichi alone. Lost the bailer, and the anchor's splice failed.",
    date(
        2025, 8, 31
    ): "Force six, reefed for the first time. The left shroud has two broken strands: replace in winter.",
    date(2025, 9, 14): "Took Wiebe along. She steered, barefoot, and overtook two plastic yachts.",
    date(
        2026, 5, 3
    ): "First sail on the new lake. Ribs hold, bilge dry after two hours, a miracle named Joost.",
    date(
        2026, 6, 21
    ): "Gust of five near the windmill, collar cracked. Phone rang about the certificate at 11:20.",
    date(
        2026, 7, 19
    ): "Emil alone at the helm for an hour. The cooking stove leaks gas at the valve, taken ashore.",
}
CALIBRATION_REMARKS = {
    "P-04471": "cap cracked, tested again with a new one",
    "P-04533": "rejected, 1.9 points; sent to Wu Min as a sample",
    "P-04602": "fell off the bench, passes all the same",
    "P-04688": "reference had come back from Zürich the day before",
    "P-04719": "rejected, 2.6 points; finger grease on the element, Yusuf's",
}
CREWS = ("Nora", "Nora, Daichi", "all four", "Nora, Emil", "Nora, Joost", "Nora, Ida, Daichi")
WINDS = ("SW 3", "W 4", "NW 2", "S 1, then none", "E 3", "SW 4, gusts", "N 2")
COURSES = (
    "once around",
    "to the pump house and back",
    "up the Drentsche Aa",
    "practised tacks",
    "drifted and ate",
)
BLOSSOMS = ("willow", "dandelion", "rape", "hawthorn", "white clover", "lime", "bramble", "ivy")


def pick(row: Sequence[str], number: int) -> str:
    """One of *row*, scattered but the same every time."""
    return row[(number * 11 + number // 5) % len(row)]


def notes() -> dict[str, str]:
    """Every generated note by its path."""
    return {
        "bees/hive-log.md": _note("2026-07-25", "bees, log", "Hive log", _hive_log()),
        "boat/logbook.md": _note("2026-07-19", "boat, log", "Stern, logbook", _logbook()),
        "work/calibration-log.md": _note(
            "2026-05-22", "calibration, log", "Calibration log, revision D", _calibrations()
        ),
        "work/probe-codes.md": _note("2026-02-25", "support, firmware", "What the probe reports", _codes()),
        **dict(_junk()),
    }


def _note(day: str, tags: str, title: str, lines: Iterator[str]) -> str:
    return f"---\ndate: {day}\ntags: [{tags}]\n---\n# {title}\n\n" + "\n".join(lines) + "\n"


def _hive_log() -> Iterator[str]:
    yield "Saturdays. Weight of A with everything on it, then of B (from June 2026 of C)."
    for number in range(68):
        day = date(2025, 4, 12) + timedelta(days=7 * number)
        weight = 31 + (number % 52) * 0.7 - (number % 13) * 1.1
        yield f"\n## {day}\n\nA {weight:.1f} kg, the other {weight * 0.8:.1f} kg. {4 + number * 5 % 21} degrees."
        yield (HIVE_REMARKS.get(day) or _dull_saturday(number))


def _dull_saturday(number: int) -> str:
    flight = ("none", "little", "busy", "until dusk")[number * 3 % 4]
    mites = number % 9 + 3
    return f"Flight: {flight}. {pick(BLOSSOMS, number).capitalize()} about. {mites} mites on the board in three days. Water trough filled, nothing opened."


def _logbook() -> Iterator[str]:
    yield "Date, wind, who, where, and what broke."
    days = {date(2025, 5, 18) + timedelta(days=7 * number) for number in range(26)}
    days |= {date(2026, 5, 3) + timedelta(days=7 * number) for number in range(12)} | set(SAILING_REMARKS)
    for number, day in enumerate(sorted(days)):
        yield f"\n## {day}\n\n{pick(WINDS, number)}. Crew: {pick(CREWS, number + 2)}. We {_sailed(number)}."
        yield f"{2 + number % 4} hours, {6 + number * 3 % 11} km, {number % 5} litres in the bilge."
        yield (
            SAILING_REMARKS.get(day)
            or "Nothing broke. Pumped out, sails aired and bagged, cover on and tied twice, ropes coiled, fenders down, key back in its place."
        )


def _sailed(number: int) -> str:
    course = pick(COURSES, number)
    return course if course.startswith(("practised", "drifted")) else f"went {course}"


def _calibrations() -> Iterator[str]:
    yield "Climate cabinet at 12 degrees, 48 hours a salt. Offsets in points of relative humidity."
    yield "\n| day | probe | NaCl 75.3 | K2SO4 97.3 | by | remark |\n|---|---|---|---|---|---|"
    for number in range(300):
        serial = f"P-{4440 + number:05d}"
        day = date(2026, 3, 9) + timedelta(days=number // 16 * 4)
        low, high = (number * 13 % 19 - 9) / 10, (number * 11 % 23 - 11) / 10
        remark = CALIBRATION_REMARKS.get(serial, "")
        yield f"| {day} | {serial} | {low:+.1f} | {high:+.1f} | {pick(('Pádraig', 'Nora', 'Yusuf'), number)} | {remark} |"


def _codes() -> Iterator[str]:
    parts = (
        "radio",
        "humidity element",
        "temperature element",
        "ammonia cell",
        "flash",
        "clock",
        "battery",
        "case switch",
    )
    troubles = ("does not answer", "answers late", "gives the same value 40 times", "is out of its range")
    known = {
        17: "E17: the clock is more than a day off: happens after the battery was swapped below zero; cured by one message.",
        23: "E23: the image could not be confirmed and the probe went back to the one before: do not send it again.",
        29: "E29: water in the case. The only code that means a new probe at once, without asking.",
    }
    for number in range(1, 33):
        part, trouble = parts[number % 8], troubles[number // 8 % 4]
        yield f"\n## E{number:02d}\n"
        yield (
            known.get(number)
            or f"E{number:02d}: the {part} {trouble}. Counted, sent once a day, shown from ten on."
        )
        yield "The dashboard shows a grey dot; the dairy is not called. Look again after the next full day."


def _junk() -> Iterator[tuple[str, str]]:
    yield (
        "inbox/gateway-log-paste.md",
        "# 2026-03-02 gateway log paste\n\n```\n" + "\n".join(_gateway_log()) + "\n```\n",
    )
    yield "inbox/2025-10-08-build-output.md", "```\n" + "\n".join(_build_output()) + "\n```\n"
    yield "inbox/2026-05-14-clickhouse-paste.md", "```\n" + "\n".join(_table_sizes()) + "\n```\n"
    for name, text in SCRAPS.items():
        yield f"inbox/{name}.md", text


def _gateway_log() -> Iterator[str]:
    for number in range(220):
        clock = f"{18 + number // 60:02d}:{number % 60:02d}:{number * 17 % 60:02d}"
        what = ("publish pip/la-sima", "keepalive", "reconnect broker", "queue in memory", "puback")[
            number * 3 % 5
        ]
        yield f"2026-03-02T{clock}Z gw-{number % 14:02d} mqtt: {what} id={number * 7919 % 65536} rc={number % 3}"


def _build_output() -> Iterator[str]:
    for number in range(60):
        yield f"[{number + 1}/60] Building C object zephyr/CMakeFiles/zephyr.dir/lib/part_{number * 31 % 97}.c.obj"
    yield "warning: unused variable 'battery_mv' [-Wunused-variable]"


def _table_sizes() -> Iterator[str]:
    yield "reading_raw  readings  TimescaleDB chunk  compressed  bytes"
    for number in range(80):
        yield f"_hyper_4_{number}_chunk  readings stored  {number * 104729 % 9973 * 1024} bytes  compressed"


SCRAPS = {
    "2025-02-19-untitled": "# Untitled\n",
    "2025-04-02-todo": "# Todo\n\n- [ ] secrets\n- [ ] backup\n- [ ] invoices\n- [ ] login\n- [ ] call\n",
    "2025-06-05-headings": "# Alarms\n\n## SMS\n\n## Push\n\n## Call\n\n## Who\n\n## When\n",
    "2025-07-09-words": "battery cold probe battery voltage cold battery probe sensor humidity humidity battery\n",
    "2025-08-20-links": "https://example.org/varroa\nhttps://example.org/formic-acid\nhttps://example.org/queen-bees\n",
    "2025-09-25-copy": "Price per cellar? Price per probe? Price per dairy? Ask Bram. Ask Bram again.\n",
    "2025-11-12-newsletter": (
        "# Hosting news you cannot miss!\n\nManaged clusters now with MORE nodes. Where do you host today? "
        "Move your hosting in one click. Secrets, backups, builds, databases: all in one place. Unsubscribe below.\n"
    ),
    "2025-12-20-trace": (
        '```\nTraceback (most recent call last):\n  File "report.py", line 88, in batch_report\n'
        "    rows = storage.readings(dairy, cellar)\nKeyError: 'cellar'\n```\n"
    ),
    "2026-01-03-scan": "R E C E I P T\nBoonstra   1 x   28.10\n........\nthank y u   0 50 5 41\n",
    "2026-02-02-untitled-2": "# Untitled 2\n\nasdf\n",
    "2026-02-18-dictation": (
        "so um the backup backup no the other one the box the storage no wait Anneke the drawer the disk and then um "
        "no yes Friday the the first I think delete this\n"
    ),
    "2026-03-10-todo": "# Todo\n\n- [ ] support\n- [ ] broker\n- [ ] office\n- [ ] school\n- [ ] Mama\n",
    "2026-04-16-shopping": "oats, oat milk, marzipan, salt 2 kg (for the jars), salt 1 kg (for us), cat, bread, wine\n",
    "2026-05-28-clip": "passkeys passkeys passkeys login login FAQ what are passkeys why passkeys are passkeys safe\n",
    "2026-06-17-poll": "# When do we meet?\n\nRocío: Tue, Wed\nYusuf: -\nPádraig: whenever\nFemke: Tue\nBram: ?\n",
    "2026-07-08-todo": "# Todo\n\n- [ ] prices\n- [ ] prices\n- [ ] queen\n- [ ] collar\n- [ ] passports\n",
}


def main() -> None:
    """Write every generated note to its place in the vault."""
    for path, text in notes().items():
        (VAULT / path).parent.mkdir(parents=True, exist_ok=True)
        (VAULT / path).write_text(text, "utf-8", newline="\n")


if __name__ == "__main__":
    main()

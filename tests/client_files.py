"""Settings of agents as people have them."""

from __future__ import annotations

SOMEBODY = """{
    "model": "opus",   "permissions": { "allow": ["Bash(ls)"] },
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "notify-send done"}]}],
        "PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "ruff format"}]}]
    },
    "env": {"LANG": "de_DE", "NOTE": "größe \\u00e9", "big": 1.50}
}
"""
COMMENTED = """{
  // colours of the evening
  "theme": "dark", /* not light */
  "mcpServers": {
    "weather": { "command": "weather", "env": {"KEY": "secret"} }, // from Priya
  },
  "hooks": {
    "BeforeAgent": [ { "hooks": [ { "type": "command", "command": "date" } ] } ]
  },
  "plugins": { "slots": { "memory": "memory-core" }, "load": { "paths": ["/opt/other"] } }
}
"""
JSON5 = """{
  // of the gateway
  gateway: { port: 0x4951, 'mode': 'local', greeting: 'it\\'s \\
me', },
  plugins: {
    slots: { memory: 'memory-core' }, entries: { clawmem: { note: 'mine', }, },
    load: { paths: ['/opt/other',], },
  },
}
"""
TOML = """# my settings
model = "gpt-mock"   # the cheap one

[mcp_servers.weather]
command = "weather"

[projects."/home/priya"]
trust_level = "trusted"
"""
YAML_TEXT = """# Hermes
model:
  default: mock   # offline
memory:
    provider: mem0
    limit: 3

display: {color: true}
"""
# The files of each agent with the text that they have before: JSON, with comments where the agent reads them.
FILES = {
    "claude-code": {".claude/settings.json": '{"model": "opus"}', ".claude.json": '{\n\t"numStartups": 3\n}\n'},
    "codex": {".codex/config.toml": TOML, ".codex/hooks.json": '{"hooks": {"Stop": [{"hooks": [{"command": "date"}]}]}}\n'},
    "gemini": {".gemini/settings.json": COMMENTED},
    "opencode": {".config/opencode/opencode.jsonc": COMMENTED},
    "openclaw": {".openclaw/openclaw.json": JSON5},
    "hermes": {".hermes/config.yaml": f"{YAML_TEXT}toolsets:\n    - web\n    -\n", ".hermes/clawmem.json": '{"note": "mine"}'},
}  # fmt: skip

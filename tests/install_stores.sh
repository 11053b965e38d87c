#!/usr/bin/env bash
# Install the memory tools whose stores tests/integration/test_real_stores.py imports into the folder $1: 1 GB, once.
set -euo pipefail
mkdir -p "$1" && cd "$1"

install_once() { [ -f "$1.installed" ] || { echo "Installing $*" >&2 && "install_$1" "${@:2}" && touch "$1.installed"; }; }
install_package() { "${PYTHON:-python3}" -m venv "$1" && "$1/bin/pip" install -qq "${@:2}"; }
install_mem0() { install_package mem0 "$@"; }
install_basic-memory() { install_package basic-memory "$@"; }
install_mempalace() { install_package mempalace "$@"; }
install_server-memory() { npm install --no-fund --no-audit --prefix server-memory "$@"; }

install_once mem0 mem0ai==2.2.1
install_once server-memory @modelcontextprotocol/server-memory@2026.8.31
install_once mempalace mempalace==3.11.0
# Basic Memory needs Python 3.12, and is left out without one.
for newer in python3.14 python3.13 python3.12; do
  if "$newer" -c '' 2> /dev/null; then
    PYTHON=$newer install_once basic-memory basic-memory==0.22.1 || echo 'basic-memory was not installed' >&2
    break
  fi
done

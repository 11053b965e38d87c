#!/usr/bin/env bash
# Install the memory tools whose stores tests/integration/test_real_stores.py imports, and sources of packages with sample
# exports, into the folder $1: 2 GB, once.
set -euo pipefail
mkdir -p "$1" && cd "$1"

install_once() { [ -f "$1.installed" ] || { echo "Installing $*" >&2 && "install_$1" "${@:2}" && touch "$1.installed"; }; }
install_package() {
  "${PYTHON:-python3}" -m venv "$1" && "$1/bin/pip" install -qq --upgrade pip && "$1/bin/pip" install -qq "${@:2}"
}
install_mem0() { install_package mem0 "$@"; }
install_basic-memory() { install_package basic-memory "$@"; }
# The package alone, without the programs that it starts, and the interpreter of its store.
install_claude-mem() {
  npm install --no-fund --no-audit --ignore-scripts --prefix claude-mem "${@:2}"
  (cd claude-mem && npm pack --silent "$1" && tar xzf claude-mem-*.tgz)
}
install_samples() {
  mkdir -p samples && cd samples && ../mem0/bin/pip download -qq --no-deps --no-binary :all: "$@"
  for packed in *.tar.gz; do tar xzf "$packed"; done && cd ..
}

install_once mem0 mem0ai==2.2.1
platform=$(node -p 'process.platform + "-" + process.arch.replace("arm64", "aarch64")')
install_once claude-mem claude-mem@13.25.3 "@oven/bun-$platform@1.3.14"
install_once samples logactyl==0.1.5 chat-history==0.3.3
# Basic Memory needs Python 3.12, and is left out without one.
for newer in python3.14 python3.13 python3.12; do
  if "$newer" -c '' 2> /dev/null; then
    PYTHON=$newer install_once basic-memory basic-memory==0.22.1 || echo 'basic-memory was not installed' >&2
    break
  fi
done

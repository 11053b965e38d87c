#!/usr/bin/env bash
# Remembers examples/notes in a temporary folder and asks four questions. Run it with: make demo
set -eu
cd "$(dirname "$0")/.."

folder=$(mktemp -d "${TMPDIR:-/tmp}/clawmem-demo.XXXXXX")
trap 'rm -rf "$folder"' EXIT

# Nothing of this machine's own configuration is read or written.
export HOME="$folder" XDG_CACHE_HOME="$folder/cache" CLAWMEM_CONFIG_DIR="$folder/config"
export INDEX_PATH= CLAWMEM_PROFILE= CLAWMEM_VAULTS= CLAWMEM_NO_LOCAL_MODELS=

step() {  # what follows, and why
    printf '\n# %s\n' "$1"
}

run() {  # show a command as it would be typed, then run it
    local word line='$'
    for word; do
        case $word in
            *[!A-Za-z0-9_./-]*) line+=" \"$word\"" ;;
            *) line+=" $word" ;;
        esac
    done
    printf '%s\n' "$line"
    "$@"
}

step 'Thirty notes of an invented team become a vault: words, and vectors made on this machine.'
run clawmem bootstrap examples/notes

step 'An identifier, found by its letters. No model is loaded.'
run clawmem search -n 2 ERR_QUEUE_FULL

step 'The same thing in other words, found by meaning. (The note calls it a no-show.)'
run clawmem query --mode vectors -n 2 "customers who book but do not show up"

step 'A question as people ask it, by words and meaning together; --explain says why each answer stands where it does.'
run clawmem query -n 2 --explain "Who can roll back the v2 launch, and until when?"

step 'Scripts without spaces are searched like any other. (Why was RabbitMQ not chosen?)'
run clawmem query -n 1 "为什么没有选择 RabbitMQ？"

step 'Any line that was named can be read in the file, or here.'
run clawmem get notes/decisions/2026-05-06-message-queue-zh.md --from 22 --lines 5

printf '\nThe temporary vault is removed. For your own notes: .venv/bin/clawmem bootstrap PATH\n'

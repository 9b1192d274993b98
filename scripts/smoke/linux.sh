#!/usr/bin/env bash
# Checks this machine: builds the crates, runs the examples against the demo agent and, with SMOKE_REAL=1, one prompt
# against Claude Code if it is installed (it must be logged in; costs a few cents). Exit code 0: all is well.
set -eu
cd "$(dirname "$0")/../.."
export CARGO_TERM_COLOR=never
examples="${CARGO_TARGET_DIR:-target}/debug/examples"

step() { printf 'smoke: == %s\n' "$1"; }
fail() { printf 'smoke: FAILED: %s\n' "$1" >&2; exit 1; }

step 'build'
cargo build --locked -p agent_process -p claude_code -p agent_api
cargo build --locked -p agent_api --examples

for name in stream permissions add_backend smoke; do
    step "$name, no agent needed"
    "$examples/$name" || fail "the example $name"
done

if [ "${SMOKE_REAL:-0}" != 1 ]; then
    step 'done; SMOKE_REAL=1 would also ask the real Claude Code'
elif ! command -v claude >/dev/null; then
    fail 'SMOKE_REAL=1, but there is no claude in PATH: npm install -g @anthropic-ai/claude-code'
else
    step "one prompt to the real $(claude --version)"
    "$examples/smoke" claude || fail 'the real Claude Code; not logged in? run claude and type /login'
    step 'done'
fi

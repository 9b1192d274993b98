# One verb for each thing people do here; `make` alone lists them.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory
# `make check` gives property tests the same seed every time. `make test` draws one and prints it; to repeat a run, set
# the variable to the printed number.
check: export PROPTEST_RNG_SEED ?= 1
PROPTEST_DRAWN_SEED := $(or $(PROPTEST_RNG_SEED),$(shell od -An -N4 -tu4 /dev/urandom | tr -d ' '))
test: export PROPTEST_RNG_SEED := $(PROPTEST_DRAWN_SEED)

.PHONY: help run serve web test test-agents check bench fuzz fmt doc clean

FUZZ_RUNS ?= 10000000
AGENTS ?= codex,gemini,qwen,opencode,copilot
CANCEL_ROUNDS ?= 20

help: ## list these verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: ## watch a scripted agent work, live (no account, no network)
	@scripts/run-demo

serve: ## open the web page with demo runs in it (PORT=7878 for a port of your choice; Ctrl-C ends all)
	@PORT="$(PORT)" scripts/serve-demo

web: ## build the web page, if it has changed (needs Node); the next build of ralph contains it
	@scripts/build-web

test: ## everything: format, lints, docs, doctests, tests, also with the real CLIs and a browser (installs what it needs)
	@echo "property tests: PROPTEST_RNG_SEED=$$PROPTEST_RNG_SEED"
	scripts/install-tools test
	scripts/build-web
	cd web && npm run --silent check && npm run --silent test
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets --all-features -- -D warnings
	scripts/check-features
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --all-features --no-deps
	cargo test --locked --workspace --all-features --doc
	cargo build --locked -p ralph -p test_support --bins
	cd web && npm run --silent e2e
	cargo run --locked --quiet -p test_support --bin capture -- install --agents=all
	cargo nextest run --locked --workspace --all-targets --all-features

test-agents: ## the real Codex, Gemini, Qwen, opencode and Copilot alone, each cancelled CANCEL_ROUNDS times (default 20)
	scripts/install-tools test
	cargo run --locked --quiet -p test_support --bin capture -- install --agents=$(AGENTS)
	RALPH_CANCEL_ROUNDS=$(CANCEL_ROUNDS) cargo nextest run --locked -p agent_api --all-features --test real_agents

check: ## the fast inner loop: format, lints, tests without the real CLIs and the browser
	@scripts/install-tools check
	@scripts/build-web
	cd web && npm run --silent check && npm run --silent test
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features -- -D warnings
	cargo nextest run --profile quick --workspace --all-features

bench: ## measure parser, transport, supervision, `ralph run`, server and web page against peers and limits (ARGS=parser or ARGS=web for one)
	scripts/build-web
	cargo build --release --locked --target-dir target -p ralph -p test_support --bins
	$(if $(filter web,$(firstword $(ARGS))),,cd bench && RALPH_TEST_BINARIES="$(CURDIR)/target/release" cargo run --release --locked -- $(ARGS))
	$(if $(filter-out web,$(firstword $(ARGS))),,cd web && RALPH_BIN="$(CURDIR)/target/release/ralph" npm run --silent bench -- $(wordlist 2,99,$(ARGS)))

fuzz: ## run every fuzz target for FUZZ_RUNS executions (default 10 million)
	@scripts/install-tools fuzz
	FUZZ_RUNS=$(FUZZ_RUNS) scripts/fuzz

fmt: ## format all code
	cargo fmt --all
	[ ! -d web/node_modules ] || (cd web && npm run --silent fmt)

doc: ## build the API documentation and say where it is
	cargo doc --workspace --all-features --no-deps
	@echo "open target/doc/claude_code/index.html"

clean: ## remove everything built (downloaded CLIs stay in the cache folder)
	cargo clean
	rm -rf bench/target fuzz/target web/dist web/node_modules

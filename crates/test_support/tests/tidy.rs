//! Rules about the source tree itself. What must not exist is written down here and fails the build.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a rule that cannot read the tree has to fail"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, MetadataCommand, Package};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// One row of the crate table in `ARCHITECTURE.md`.
struct CrateRule {
    name: &'static str,
    /// Packages that no other product crate may depend on, used by this one today or not.
    owns: &'static [&'static str],
    /// Workspace crates it may depend on outside its tests.
    depends_on: &'static [&'static str],
}

const CRATES: [CrateRule; 18] = [
    CrateRule {
        name: "json_lines",
        owns: &["bytestring"],
        depends_on: &[],
    },
    CrateRule {
        name: "agent_process",
        owns: &[
            "libc",
            "nix",
            "windows-sys",
            "portable-pty",
            "process-wrap",
            "landlock",
        ],
        depends_on: &[],
    },
    CrateRule {
        name: "agent_client",
        owns: &[],
        depends_on: &["agent_process", "json_lines"],
    },
    CrateRule {
        name: "claude_code",
        owns: &[],
        depends_on: &["agent_client", "agent_process", "json_lines"],
    },
    CrateRule {
        name: "agent_api",
        owns: &[],
        depends_on: &["agent_client", "agent_process", "claude_code", "json_lines"],
    },
    CrateRule {
        name: "demo_agent",
        owns: &[],
        depends_on: &["agent_api"],
    },
    CrateRule {
        name: "worktrees",
        owns: &["git2", "gix"],
        depends_on: &["agent_process"],
    },
    CrateRule {
        name: "ralph_run",
        owns: &[],
        depends_on: &["agent_api", "agent_process", "json_lines"],
    },
    CrateRule {
        name: "ralph_agents",
        owns: &[],
        depends_on: &["agent_api", "ralph_run"],
    },
    CrateRule {
        name: "run_view",
        owns: &[],
        depends_on: &["agent_api", "ralph_run"],
    },
    CrateRule {
        name: "terminal_input",
        owns: &[],
        depends_on: &[],
    },
    CrateRule {
        name: "ralph_tui",
        owns: &["ratatui", "crossterm", "pulldown-cmark"],
        depends_on: &["agent_api", "ralph_run", "run_view", "terminal_input"],
    },
    CrateRule {
        name: "ralph_store",
        owns: &["rusqlite", "sqlx"],
        depends_on: &["agent_api", "agent_process", "ralph_run"],
    },
    CrateRule {
        name: "ralph_server",
        owns: &["axum", "tokio-rustls", "x509-parser"],
        depends_on: &["agent_api", "agent_process", "ralph_run", "ralph_store"],
    },
    CrateRule {
        name: "yaml_tree",
        owns: &["saphyr-parser"],
        depends_on: &[],
    },
    CrateRule {
        name: "ralph_tasks",
        owns: &[],
        depends_on: &["agent_api", "ralph_run", "run_view", "yaml_tree"],
    },
    CrateRule {
        name: "ralph",
        owns: &["clap", "clap_complete", "anyhow", "ureq", "hmac"],
        depends_on: &[
            "agent_api",
            "agent_process",
            "demo_agent",
            "json_lines",
            "ralph_agents",
            "ralph_run",
            "ralph_server",
            "ralph_store",
            "ralph_tasks",
            "ralph_tui",
            "run_view",
            "terminal_input",
            "worktrees",
            "yaml_tree",
        ],
    },
    CrateRule {
        name: "test_support",
        owns: &[],
        depends_on: &[],
    },
];

/// Never part of a product, so it may use what the product crates own.
const DEVELOPMENT_CRATE: &str = "test_support";
const CRATE_WITH_UNSAFE_CODE: &str = "crates/agent_process/";
/// The demo agent writes this stream, and tests compare events with the lines they come from.
const CRATES_THAT_KNOW_STREAM_JSON: [&str; 7] = [
    "crates/claude_code/",
    "crates/test_support/",
    "crates/demo_agent/",
    "crates/agent_api/tests/",
    // The file `budget.json` has had this name for its total long before.
    "crates/ralph_run/src/state/budget",
    "crates/ralph_run/tests/",
    "crates/ralph/tests/",
];
const STREAM_JSON_FIELDS: [&str; 3] = ["tool_use_id", "parent_tool_use_id", "total_cost_usd"];

/// Agents and their makers. Only a backend's own folder names them in code: everything else reads its profile.
const VENDORS: [&str; 12] = [
    "claude",
    "codex",
    "gemini",
    "qwen",
    "opencode",
    "copilot",
    "goose",
    "kiro",
    "amp",
    "pi",
    "anthropic",
    "openai",
];
const PLACES_THAT_NAME_VENDORS: [&str; 8] = [
    "crates/agent_api/src/backends/",
    "crates/claude_code/",
    // The demo writes what one of the agents writes.
    "crates/demo_agent/",
    "crates/test_support/",
    // The names of kinds in journals, so that reading a journal allocates none.
    "crates/agent_api/src/event/agent_kind.rs",
    // The kinds of API keys that are redacted, by provider.
    "crates/ralph_run/src/redact/kind.rs",
    // The neutral error and environment still wrap those of one agent's crate.
    "crates/agent_api/src/error.rs",
    "crates/agent_api/src/request/environment.rs",
];

const MAX_MEDIAN_LINES: usize = 180;
const MAX_FILE_LINES: usize = 600;
const MAX_SCRIPT_MEDIAN_LINES: usize = 150;
const MAX_SCRIPT_LINES: usize = 300;
/// Written by programs.
const MADE_SCRIPTS: [&str; 2] = ["web/src/wire/", "web/src/api/schema.d.ts"];
/// Files that are one long table and may exceed the limit.
const TABLE_ONLY_FILES: [&str; 1] = ["crates/ralph_tui/src/bindings/table.rs"];

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 7] = ["core", "common", "utils", "helpers", "misc", "shared", "types"];

/// Captured data: its words are the vendor's and the scenarios', not ours.
const FIXTURES: &str = "crates/test_support/fixtures/";

// Spelled in two halves, so that this file passes its own rules.
const MACHINE_PATHS: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];
const REMINDERS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];

const PUBLIC_REGISTRIES: [&str; 1] = ["registry.npmjs.org"];
const REGISTRY_WORDS: [&str; 5] = ["registry", "mirror", "proxy", "artifactory", "nexus"];
const PRIVATE_SUFFIXES: [&str; 5] = [".internal", ".local", ".lan", ".corp", ".intranet"];

// ---- the tree ----

struct File {
    /// Relative to the repository, with `/` on every system.
    path: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
        .to_owned()
}

/// Every text file that is not ignored by git, whether or not this is a git checkout.
fn files() -> Vec<File> {
    let root = root();
    let walk = ignore::WalkBuilder::new(&root)
        .hidden(false)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_path(Ord::cmp)
        .build();
    let mut files = Vec::new();
    for entry in walk {
        let entry = entry.unwrap();
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(text) = String::from_utf8(std::fs::read(entry.path()).unwrap()) else {
            continue;
        };
        let path = entry
            .path()
            .strip_prefix(&root)
            .unwrap()
            .to_str()
            .unwrap()
            .replace('\\', "/");
        files.push(File { path, text });
    }
    assert!(
        files.len() > 20,
        "found only {} files under {}",
        files.len(),
        root.display()
    );
    files
}

fn rust_files() -> Vec<File> {
    files()
        .into_iter()
        .filter(|file| file.path.ends_with(".rs"))
        .collect()
}

/// Without the side workspaces: a benchmark may build the vendor's lines and keep its parts in one file.
fn crate_files() -> Vec<File> {
    let mut files = rust_files();
    files.retain(|file| file.path.starts_with("crates/"));
    files
}

fn packages() -> Vec<Package> {
    let manifest = root().join("Cargo.toml");
    MetadataCommand::new()
        .manifest_path(manifest)
        .no_deps()
        .exec()
        .unwrap()
        .packages
}

fn is_test_code(path: &str) -> bool {
    path.contains("/tests/") || path.contains("/benches/") || path.ends_with("/tests.rs")
}

fn is_program(path: &str) -> bool {
    path.contains("/src/bin/") || path.ends_with("/src/main.rs") || !path.contains("/src/")
}

#[track_caller]
fn assert_none(rule: &str, broken: &[String]) {
    assert!(broken.is_empty(), "{rule}\n  {}", broken.join("\n  "));
}

// ---- Rust tokens: comments are gone, strings are one token ----

struct Token {
    text: String,
    line: usize,
    end_line: usize,
}

enum TestItems {
    Keep,
    Skip,
}

fn tokens(file: &File, test_items: &TestItems) -> Vec<Token> {
    let stream: TokenStream = file
        .text
        .parse()
        .unwrap_or_else(|error| panic!("{} is not Rust: {error}", file.path));
    let mut tokens = Vec::new();
    flatten(stream, test_items, &mut tokens);
    tokens
}

/// Writes a token tree as a flat list without doc comments and, if asked, without `#[cfg(test)]` items.
fn flatten(stream: TokenStream, test_items: &TestItems, out: &mut Vec<Token>) {
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let is_hash = matches!(&tree, TokenTree::Punct(mark) if mark.as_char() == '#');
        if is_hash && let Some(attribute) = attribute_text(trees.peek()) {
            if attribute.starts_with("doc =") {
                trees.next();
                continue;
            }
            if attribute == "cfg (test)" && matches!(test_items, TestItems::Skip) {
                trees.by_ref().find(ends_item);
                continue;
            }
        }
        let span = tree.span();
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::None => ("", ""),
                };
                let (first, last) = (group.span_open().start().line, group.span_close().start().line);
                out.push(Token {
                    text: open.to_owned(),
                    line: first,
                    end_line: first,
                });
                flatten(group.stream(), test_items, out);
                out.push(Token {
                    text: close.to_owned(),
                    line: last,
                    end_line: last,
                });
            }
            TokenTree::Punct(mark) if mark.as_char() == '!' && is_inner_doc(out, trees.peek()) => {
                // `#!` was pushed as two marks before the doc comment's text was seen.
                out.pop();
                trees.next();
            }
            other => {
                let (line, end_line) = (span.start().line, span.end().line);
                out.push(Token {
                    text: other.to_string(),
                    line,
                    end_line,
                });
            }
        }
    }
}

fn attribute_text(tree: Option<&TokenTree>) -> Option<String> {
    match tree {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
            Some(group.stream().to_string())
        }
        _ => None,
    }
}

fn is_inner_doc(before: &[Token], after: Option<&TokenTree>) -> bool {
    before.last().is_some_and(|token| token.text == "#")
        && attribute_text(after).is_some_and(|attribute| attribute.starts_with("doc ="))
}

fn ends_item(tree: &TokenTree) -> bool {
    match tree {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(mark) => mark.as_char() == ';',
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    }
}

/// Where a sequence of tokens occurs, as `path:line`.
fn places(file: &File, tokens: &[Token], sequence: &[&str]) -> Vec<String> {
    let matches = |window: &[Token]| {
        window
            .iter()
            .zip(sequence)
            .all(|(token, text)| token.text == *text)
    };
    let found = tokens.windows(sequence.len()).filter(|window| matches(window));
    found
        .map(|window| format!("{}:{}: `{}`", file.path, window[0].line, sequence.concat()))
        .collect()
}

fn lines_of_code(tokens: &[Token]) -> usize {
    tokens
        .iter()
        .flat_map(|token| token.line..=token.end_line)
        .collect::<BTreeSet<_>>()
        .len()
}

// ---- the crate table ----

type Table = BTreeMap<String, (BTreeSet<String>, BTreeSet<String>)>;

/// The words in backticks.
fn quoted(text: &str) -> BTreeSet<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn names(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn the_architecture_page_shows_the_table_that_is_checked() {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let section = page
        .split("\n## Crates\n")
        .nth(1)
        .unwrap()
        .split("\n## ")
        .next()
        .unwrap();
    let mut shown = Table::new();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        let name = columns[1].trim_matches('`').to_owned();
        shown.insert(name, (quoted(columns[2]), quoted(columns[3])));
    }
    let rows = CRATES
        .iter()
        .map(|rule| (rule.name.to_owned(), (names(rule.owns), names(rule.depends_on))));
    assert_eq!(
        shown,
        rows.collect::<Table>(),
        "left: ARCHITECTURE.md, right: this test"
    );
}

#[test]
fn crates_depend_on_each_other_only_as_the_table_says() {
    let packages = packages();
    let members: BTreeSet<String> = packages.iter().map(|package| package.name.to_string()).collect();
    let ruled: BTreeSet<String> = CRATES.iter().map(|rule| rule.name.to_owned()).collect();
    assert_eq!(
        members, ruled,
        "left: crates in the workspace, right: crates in the table"
    );

    let mut broken = Vec::new();
    for (package, rule) in packages
        .iter()
        .flat_map(|package| rule_of(package).map(|rule| (package, rule)))
    {
        for dependency in package
            .dependencies
            .iter()
            .filter(|dependency| members.contains(&dependency.name))
        {
            let is_test_only = dependency.kind == DependencyKind::Development;
            if !is_test_only && !rule.depends_on.contains(&dependency.name.as_str()) {
                broken.push(format!("{} depends on {}", package.name, dependency.name));
            }
        }
    }
    assert_none("a crate depends on another one against the table:", &broken);
}

#[test]
fn only_the_owner_depends_on_a_package_it_owns() {
    let mut broken = Vec::new();
    for package in packages()
        .iter()
        .filter(|package| package.name != DEVELOPMENT_CRATE)
    {
        for dependency in package
            .dependencies
            .iter()
            .filter(|it| it.kind != DependencyKind::Development)
        {
            let owner = CRATES
                .iter()
                .find(|rule| rule.owns.contains(&dependency.name.as_str()));
            if let Some(owner) = owner.filter(|owner| package.name != owner.name) {
                broken.push(format!(
                    "{} uses {}, owned by {}",
                    package.name, dependency.name, owner.name
                ));
            }
        }
    }
    assert_none("a package has one owner:", &broken);
}

/// The packages that a crate needs with these features, its own included.
fn packages_of(package: &str, features: &[&str]) -> String {
    let output = std::process::Command::new(env!("CARGO"))
        .current_dir(root())
        .args([
            "tree",
            "--offline",
            "--edges=normal",
            "--prefix=none",
            "--no-default-features",
        ])
        .args(["--package", package])
        .args(["--features", &features.join(",")])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn parsing_needs_no_runtime_and_neutral_code_no_vendor() {
    for (package, features, unwanted) in [
        ("json_lines", &[][..], "tokio "),
        ("agent_client", &[], "tokio "),
        ("claude_code", &[], "tokio "),
        ("claude_code", &[], "agent_process "),
        (
            "agent_api",
            &["acp", "codex", "custom", "gemini", "pi"],
            "claude_code ",
        ),
    ] {
        let packages = packages_of(package, features);
        let has = packages.lines().any(|line| line.starts_with(unwanted));
        assert!(!has, "`{package}` with {features:?} depends on {unwanted}");
    }
}

#[test]
fn every_crate_takes_the_workspace_lints() {
    let without = packages().into_iter().filter(|package| {
        !std::fs::read_to_string(&package.manifest_path)
            .unwrap()
            .contains("[lints]\nworkspace = true\n")
    });
    assert_none(
        "`[lints] workspace = true` is missing in:",
        &without.map(|it| it.name.to_string()).collect::<Vec<_>>(),
    );
}

/// The dependencies that a lock file lists for each package, by name.
fn locked_dependencies(lock: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    lock.split("[[package]]")
        .skip(1)
        .filter_map(|package| {
            let name = package.lines().find_map(|line| line.strip_prefix("name = "))?;
            let (_, list) = package.split_once("dependencies = [").unwrap_or_default();
            let listed = list.lines().filter_map(|line| {
                let entry = line.trim().strip_prefix('"')?;
                entry.split([' ', '"']).next()
            });
            Some((name.trim_matches('"'), listed.collect()))
        })
        .collect()
}

#[test]
fn lock_files_of_benchmarks_and_fuzz_targets_are_up_to_date() {
    let packages = packages();
    let mut broken = Vec::new();
    for lock in ["bench/Cargo.lock", "fuzz/Cargo.lock"] {
        let text = std::fs::read_to_string(root().join(lock)).unwrap();
        let locked = locked_dependencies(&text);
        for package in &packages {
            let Some(listed) = locked.get(package.name.as_str()) else {
                continue;
            };
            let required = package
                .dependencies
                .iter()
                .filter(|dependency| dependency.kind != DependencyKind::Development && !dependency.optional);
            let missing = required.filter(|dependency| !listed.contains(dependency.name.as_str()));
            broken.extend(
                missing.map(|dependency| format!("{lock}: `{}` lacks `{}`", package.name, dependency.name)),
            );
        }
    }
    assert_none(
        "`make bench` and `make fuzz` need current lock files: run `cargo metadata` in their folders",
        &broken,
    );
}

fn rule_of(package: &Package) -> Option<&'static CrateRule> {
    CRATES.iter().find(|rule| package.name == rule.name)
}

// ---- code ----

#[test]
fn files_stay_short_enough_to_read_at_once() {
    let mut lengths = Vec::new();
    let mut broken = Vec::new();
    for file in rust_files()
        .iter()
        .filter(|file| file.path.contains("/src/") && !is_test_code(&file.path))
    {
        if TABLE_ONLY_FILES.contains(&file.path.as_str()) {
            continue;
        }
        let length = lines_of_code(&tokens(file, &TestItems::Skip));
        if length > MAX_FILE_LINES {
            broken.push(format!("{}: {length} lines", file.path));
        }
        lengths.push(length);
    }
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    println!(
        "{} files, median {median} lines of code, longest {}",
        lengths.len(),
        lengths[lengths.len() - 1]
    );
    assert_none(
        &format!("split these, the limit is {MAX_FILE_LINES} lines of code:"),
        &broken,
    );
    assert!(
        median <= MAX_MEDIAN_LINES,
        "the median file has {median} lines of code, over {MAX_MEDIAN_LINES}"
    );
}

#[test]
fn files_of_the_page_stay_short_as_well() {
    let is_script = |file: &&File| {
        let is_test = [".test.ts", ".test.tsx", ".e2e.ts"]
            .iter()
            .any(|end| file.path.ends_with(end));
        let is_made = MADE_SCRIPTS.iter().any(|made| file.path.starts_with(made));
        let is_source = file.path.ends_with(".ts") || file.path.ends_with(".tsx");
        file.path.starts_with("web/src/") && is_source && !is_test && !is_made
    };
    let files = files();
    let mut broken = Vec::new();
    let mut lengths = Vec::new();
    for file in files.iter().filter(is_script) {
        let length = file.text.lines().count();
        if length > MAX_SCRIPT_LINES {
            broken.push(format!("{}: {length} lines", file.path));
        }
        lengths.push(length);
    }
    assert_none(
        &format!("split these, the limit is {MAX_SCRIPT_LINES} lines:"),
        &broken,
    );
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(
        median <= MAX_SCRIPT_MEDIAN_LINES,
        "the median file has {median} lines, over {MAX_SCRIPT_MEDIAN_LINES}"
    );
}

#[test]
fn unsafe_code_lives_in_agent_process_only() {
    let mut broken = Vec::new();
    for file in rust_files()
        .iter()
        .filter(|file| !file.path.starts_with(CRATE_WITH_UNSAFE_CODE))
    {
        broken.extend(places(file, &tokens(file, &TestItems::Keep), &["unsafe"]));
    }
    assert_none(&format!("unsafe code outside {CRATE_WITH_UNSAFE_CODE}:"), &broken);
}

#[test]
fn libraries_do_not_print() {
    let mut broken = Vec::new();
    for file in crate_files() {
        if is_program(&file.path) || is_test_code(&file.path) {
            continue;
        }
        let tokens = tokens(&file, &TestItems::Skip);
        for name in ["print", "println", "eprint", "eprintln", "dbg"] {
            broken.extend(places(&file, &tokens, &[name, "!"]));
        }
    }
    assert_none("a library writes to the terminal:", &broken);
}

#[test]
fn only_claude_code_knows_the_field_names_of_stream_json() {
    let mut broken = Vec::new();
    let knows = |path: &str| {
        CRATES_THAT_KNOW_STREAM_JSON
            .iter()
            .any(|prefix| path.starts_with(prefix))
    };
    for file in crate_files().iter().filter(|file| !knows(&file.path)) {
        for token in tokens(file, &TestItems::Keep)
            .iter()
            .filter(|token| token.text.contains('"'))
        {
            if STREAM_JSON_FIELDS.iter().any(|field| token.text.contains(field)) {
                broken.push(format!("{}:{}", file.path, token.line));
            }
        }
    }
    assert_none("stream-json field names outside claude_code:", &broken);
}

/// The words of a token in lower case: `ClaudeMapper` and `"claude-session"` both have `claude`.
fn words(token: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for character in token.chars() {
        if !character.is_alphanumeric() || (character.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = character.is_lowercase();
        if let Some(word) = words.last_mut()
            && character.is_alphanumeric()
        {
            word.extend(character.to_lowercase());
        }
    }
    words
}

#[test]
fn only_a_backends_own_folder_names_its_vendor() {
    let may_name = |path: &str| {
        PLACES_THAT_NAME_VENDORS
            .iter()
            .any(|place| path.starts_with(place))
    };
    let is_vendor = |word: &String| VENDORS.contains(&word.as_str());
    let mut broken = Vec::new();
    for file in crate_files()
        .iter()
        .filter(|file| file.path.contains("/src/") && !is_test_code(&file.path) && !may_name(&file.path))
    {
        for token in tokens(file, &TestItems::Skip) {
            // The crate of that name.
            let is_crate = token.text == "claude_code";
            if !is_crate && words(&token.text).iter().any(is_vendor) {
                broken.push(format!("{}:{}: {}", file.path, token.line, token.text));
            }
        }
    }
    assert_none(
        "code that names a vendor; put the fact into the backend's profile and read it from the registry:",
        &broken,
    );
}

#[test]
fn no_crate_or_module_has_a_name_that_says_nothing() {
    let mut broken = Vec::new();
    for file in rust_files() {
        let parts = file.path.trim_end_matches(".rs").split('/');
        if let Some(name) = parts.into_iter().find(|part| EMPTY_NAMES.contains(part)) {
            broken.push(format!("{}: `{name}`", file.path));
        }
        let tokens = tokens(&file, &TestItems::Keep);
        broken.extend(
            EMPTY_NAMES
                .iter()
                .flat_map(|name| places(&file, &tokens, &["mod", name])),
        );
    }
    assert_none("say what is inside:", &broken);
}

#[test]
fn no_test_is_ignored_and_no_lint_is_allowed() {
    let mut broken = Vec::new();
    for file in rust_files() {
        let tokens = tokens(&file, &TestItems::Keep);
        let attributes: [&[&str]; 3] = [
            &["#", "[", "ignore"],
            &["#", "[", "allow", "("],
            &["#", "!", "[", "allow", "("],
        ];
        broken.extend(
            attributes
                .iter()
                .flat_map(|attribute| places(&file, &tokens, attribute)),
        );
    }
    assert_none(
        "run the test, or `#[expect(lint, reason = \"…\")]` what it must break:",
        &broken,
    );
}

#[test]
fn module_roots_hold_docs_modules_and_exports_only() {
    let mut broken = Vec::new();
    let is_root = |path: &str| path.ends_with("/lib.rs") || path.ends_with("/mod.rs");
    for file in crate_files()
        .iter()
        .filter(|file| is_root(&file.path) && !is_test_code(&file.path))
    {
        let tokens = tokens(file, &TestItems::Skip);
        broken.extend(
            ["fn", "impl"]
                .iter()
                .flat_map(|word| places(file, &tokens, &[word])),
        );
    }
    assert_none("logic belongs in a module with a name:", &broken);
}

#[test]
fn rules_see_code_and_not_comments_or_strings() {
    let text = "//! unsafe\n/// unsafe\nfn f() { let s = \"unsafe\"; } // unsafe\n#[cfg(test)]\nmod t { fn g() {} }\n";
    let file = File {
        path: "sample.rs".to_owned(),
        text: format!("{text}unsafe fn h() {{}}\n"),
    };
    let without_tests = tokens(&file, &TestItems::Skip);
    assert_eq!(
        places(&file, &without_tests, &["unsafe"]),
        ["sample.rs:6: `unsafe`"]
    );
    assert_eq!(places(&file, &without_tests, &["fn"]).len(), 2);
    assert_eq!(places(&file, &tokens(&file, &TestItems::Keep), &["fn"]).len(), 3);
    assert_eq!(lines_of_code(&without_tests), 2);
}

// ---- text ----

/// `path:line` of each line for which the rule has something to say.
fn find_lines(files: &[File], finding: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        for (index, line) in file.text.lines().enumerate() {
            if let Some(what) = finding(line) {
                found.push(format!("{}:{}: {what}", file.path, index + 1));
            }
        }
    }
    found
}

#[test]
fn no_path_of_somebodys_machine_is_tracked() {
    let named = |line: &str| {
        MACHINE_PATHS
            .iter()
            .find(|path| line.contains(*path))
            .map(|path| (*path).to_owned())
    };
    assert_none(
        "paths that exist on one machine only:",
        &find_lines(&files(), named),
    );
}

#[test]
fn no_private_package_registry_is_tracked() {
    assert_none(
        "hosts that others cannot reach:",
        &find_lines(&files(), private_host),
    );
    let foreign = |line: &str| {
        let source = line.strip_prefix("source = ")?;
        let is_public = source == "\"registry+https://github.com/rust-lang/crates.io-index\"";
        (!is_public).then(|| source.to_owned())
    };
    let locks: Vec<File> = files()
        .into_iter()
        .filter(|file| file.path.ends_with("Cargo.lock"))
        .collect();
    assert_none(
        "packages from elsewhere than crates.io:",
        &find_lines(&locks, foreign),
    );
}

fn private_host(line: &str) -> Option<String> {
    line.split("://").skip(1).find_map(|rest| {
        let host: String = rest
            .chars()
            .take_while(|&c| c.is_ascii_alphanumeric() || "-._".contains(c))
            .collect();
        let is_private_address = ["10.", "192.168."].iter().any(|prefix| host.starts_with(prefix));
        let is_private_name = PRIVATE_SUFFIXES.iter().any(|suffix| host.ends_with(suffix));
        let is_registry = REGISTRY_WORDS.iter().any(|word| host.contains(word));
        let is_public = PUBLIC_REGISTRIES.contains(&host.as_str());
        (!is_public && (is_private_address || is_private_name || is_registry)).then_some(host)
    })
}

#[test]
fn private_hosts_are_told_from_public_ones() {
    let private = concat!("registry = \"https:", "//registry.example", ".corp/index\"");
    assert_eq!(private_host(private).as_deref(), Some("registry.example.corp"));
    assert_eq!(
        private_host("see https://registry.npmjs.org/x and https://docs.rs/"),
        None
    );
}

#[test]
fn no_reminder_is_left_behind() {
    let files: Vec<File> = files()
        .into_iter()
        .filter(|file| !file.path.starts_with(FIXTURES))
        .collect();
    let reminder = |line: &str| {
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.find(|word| REMINDERS.contains(word)).map(str::to_owned)
    };
    assert_none("do it or open an issue:", &find_lines(&files, reminder));
}

#[test]
fn the_readme_shows_both_commands() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    for command in ["make run", "make test"] {
        assert!(
            readme.lines().any(|line| line.trim().starts_with(command)),
            "README.md lacks `{command}`"
        );
    }
}

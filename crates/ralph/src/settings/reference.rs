//! The settings reference, from the table: `docs/config.md` and `ralph help config`.

use std::fmt::Write as _;

use super::layer::Setting;
use super::table::{MODE_SETTINGS, SETTINGS};
use run_view::wrap;

const HEAD: &str = "# Settings

Written from the code by a test; do not edit.

Every setting is looked up in four places, and the first one that has it decides: the flag of `ralph run`, the environment variable, `ralph.yml` at the top of the workspace, the default. A mode counts more than the rest of `ralph.yml` and less than a variable.

- An empty variable, `0` and `false` turn a switch off. An empty variable of another kind decides nothing.
- Durations: `90s`, `15m`, `4h`, `1h30m`; a bare number is seconds. Dollars: `10`, `$2.50`. `0` turns a limit off.
- Lists of names: `[Read, \"Bash(git:*)\"]` in `ralph.yml`, `Read,Bash(git:*)` elsewhere.
- Paths of a flag or variable start in the working directory, paths of `ralph.yml` in the workspace.
- An unknown key of `ralph.yml` is a warning with the key that was probably meant. A value of the wrong kind is an error with line and column, and ralph exits with 78.
- Lists and mappings without a variable can only be given in `ralph.yml`, or by their flag.

";

const ROLES: &str = "
## Roles

A mode with `next` is the first role of a loop: `ralph run --mode plan` runs one iteration as `plan`, the next one as the mode that `next` names, and so on.

```yaml
modes:
  plan:
    prompt: Write the next small step to PLAN.md. Change nothing else.
    permission_mode: accept-edits
    next: build
  build:
    prompt: Do the step that PLAN.md describes.
    session: keep
    next: review
  review:
    prompt: Review the last change, and repair what is wrong.
    model: opus
```

- After a mode without `next`, the first role follows again. A mode can also name itself or an earlier one. The limits of the run end every such loop.
- A role gets its own `prompt`, then the prompt of the run, then the last message of the role before it (the last 32 KiB, without secrets).
- Any role can complete the run: its answer must end with the completion promise, and every verify command must succeed. If one fails, the next role gets its output.
- A role that fails has its turn again. Failed iterations count as in every loop.
- With `--once`, only the first role runs, once. A conversation (`--interactive`) uses the settings of the first role.

";

const WATCHDOG: &str = "## Watchdog

Every rule below `watch` is an action, or a mapping with `action` and the thresholds that the table shows. What is left out keeps its default.

```yaml
watch:
  scope: [\"src/**\", \"tests/**\"]
  out_of_scope: stop
  repeated_call: {action: interrupt, times: 5}
  silence: {after: 10m, during_call: 1h}
  context: off
```

- `notify` is a warning in the run, and a notification if `notify` is configured.
- `interrupt` is a warning, too. It ends the agent's turn and sends the agent a message that says what was found, so that it tries something else.
- `stop` ends the run with exit code 1.
- `off` turns the rule off.

";

const EXAMPLE: &str = "## Example

```yaml
backend: auto
model: opus
verify:
  - cargo test
event_loop:
  prompt_file: PROMPT.md
  max_iterations: 20
  max_cost_usd: 5
modes:
  reviewer:
    tools: [Read, Grep, \"Bash(git:*)\"]
    once: true
```
";

/// Writes the reference of all settings, as Markdown.
pub fn render_reference() -> String {
    let mut page = HEAD.to_owned();
    page.push_str(
        "## Keys\n\n| key | flag | variable | takes | default | meaning |\n|---|---|---|---|---|---|\n",
    );
    for setting in SETTINGS.iter() {
        let keys = [setting.key, setting.short_key].map(code);
        let keys: Vec<&str> = keys
            .iter()
            .map(String::as_str)
            .filter(|key| !key.is_empty())
            .collect();
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} |",
            keys.join(" or "),
            code(setting.flag),
            code(setting.variable),
            (setting.takes)(),
            default(setting),
            setting.meaning
        );
    }
    page.push_str("\n## Modes\n\n`modes` maps names to these keys. `planner` (tools that read, and the shell; web search if it is allowed; one iteration; keeps its session) and `coder` (tools that read and change files) are built in. [agents.md](agents.md) lists their tools for each agent. `ralph.yml` changes only the keys it names.\n\n| key | takes | meaning |\n|---|---|---|\n");
    for Setting {
        key, takes, meaning, ..
    } in MODE_SETTINGS
    {
        let _ = writeln!(page, "| `{key}` | {} | {meaning} |", takes());
    }
    page.push_str(ROLES);
    page.push_str(WATCHDOG);
    page.push_str(EXAMPLE);
    page
}

/// The settings whose key, flag or variable contains one of `names`, as text for a terminal; all of them if there are no
/// names. `None` if no setting does.
pub fn render_settings_help(names: &[String], columns: usize) -> Option<String> {
    let is_meant = |setting: &&Setting| {
        let own =
            [setting.key, setting.short_key, setting.flag, setting.variable].map(str::to_ascii_lowercase);
        let contains = |name: &String| own.iter().any(|own| own.contains(&name.to_ascii_lowercase()));
        names.is_empty() || names.iter().any(contains)
    };
    let mut settings = SETTINGS.iter().filter(is_meant).peekable();
    settings.peek()?;
    let mut page = String::new();
    if names.is_empty() {
        page.push_str("Every setting, by its key in ralph.yml. A flag wins over a variable, a mode,\n");
        page.push_str("ralph.yml and the default, in this order. 0 turns a limit off.\n\n");
    }
    for setting in settings {
        page.push_str(setting.name());
        if !setting.short_key.is_empty() {
            let _ = write!(page, ", or {}", setting.short_key);
        }
        page.push('\n');
        push_indented(&mut page, &setting.meaning.replace('`', ""), columns);
        let flag = if setting.key.is_empty() { "" } else { setting.flag };
        let places = [flag, setting.variable]
            .into_iter()
            .filter(|place| !place.is_empty());
        let mut facts: Vec<String> = places.map(str::to_owned).collect();
        facts.push((setting.takes)().replace('`', ""));
        if !setting.default.is_empty() {
            let default = if setting.default == "0" {
                "none"
            } else {
                setting.default
            };
            facts.push(format!("default {default}"));
        }
        push_indented(&mut page, &facts.join("; "), columns);
        page.push('\n');
    }
    if names.is_empty() {
        page.push_str("A mode (modes.NAME) can set:\n");
        let keys: Vec<&str> = MODE_SETTINGS.iter().map(|setting| setting.key).collect();
        push_indented(&mut page, &keys.join(", "), columns);
    } else {
        page.pop();
    }
    Some(page)
}

fn push_indented(page: &mut String, text: &str, columns: usize) {
    const INDENT: usize = 4;
    let _ = writeln!(page, "{:INDENT$}{}", "", wrap(text, INDENT, columns));
}

fn default(setting: &Setting) -> String {
    match setting.default {
        "" => "–".to_owned(),
        "0" => "none".to_owned(),
        other => code(other),
    }
}

fn code(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("`{text}`")
    }
}

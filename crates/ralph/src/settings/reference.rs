//! `docs/config.md`, from the table.

use std::fmt::Write as _;

use super::layer::Setting;
use super::table::{MODE_SETTINGS, SETTINGS};

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
#[must_use]
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
    page.push_str("\n## Modes\n\n`modes` maps names to these keys. `planner` (tools that read; web search if it is allowed; one iteration; keeps its session) and `coder` (tools that read and change files) are built in. [agents.md](agents.md) lists their tools for each agent. `ralph.yml` changes only the keys it names.\n\n| key | takes | meaning |\n|---|---|---|\n");
    for Setting {
        key, takes, meaning, ..
    } in MODE_SETTINGS
    {
        let _ = writeln!(page, "| `{key}` | {} | {meaning} |", takes());
    }
    page.push('\n');
    page.push_str(EXAMPLE);
    page
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

//! `ralph completions`: completion scripts for shells.

use clap::Args;
use clap_complete::Shell;

use crate::cli::command;

/// Print a shell completion script
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph completions bash > ~/.local/share/bash-completion/completions/ralph
  ralph completions zsh > ~/.zfunc/_ralph
  ralph completions fish > ~/.config/fish/completions/ralph.fish")]
pub struct CompletionsArgs {
    pub shell: Shell,
}

/// The completion script of a shell.
pub fn render_completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "ralph", &mut script);
    with_known_words(shell, String::from_utf8_lossy(&script).into_owned())
}

/// Commands whose first argument is a run.
const COMMANDS_OF_RUNS: &str = "attach send queue answer interrupt stop show logs replay";

/// Adds runs and modes, which `ralph __complete` knows, to a script that clap made.
fn with_known_words(shell: Shell, script: String) -> String {
    match shell {
        Shell::Bash => script + &BASH.replace("COMMANDS", &COMMANDS_OF_RUNS.replace(' ', "|")),
        Shell::Fish => script + &FISH.replace("COMMANDS", COMMANDS_OF_RUNS),
        Shell::Zsh => zsh(&script),
        _ => script,
    }
}

const BASH: &str = r#"
_ralph_known_words() {
    local word="${COMP_WORDS[COMP_CWORD]}" kind=""
    case "${COMP_WORDS[COMP_CWORD-1]}" in
        --mode) kind=modes ;;
        --resume|--run) kind=runs ;;
        COMMANDS) [[ $COMP_CWORD -eq 2 && $word != -* ]] && kind=runs ;;
    esac
    if [[ -z $kind ]]; then
        _ralph "$@"
        return
    fi
    COMPREPLY=($(compgen -W "$(ralph __complete "$kind" 2>/dev/null | cut -f 1)" -- "$word"))
}
complete -F _ralph_known_words -o nosort -o bashdefault -o default ralph
"#;

const FISH: &str = r#"
complete -c ralph -n "__fish_ralph_using_subcommand COMMANDS" -k -f -a "(ralph __complete runs)"
complete -c ralph -n "__fish_ralph_using_subcommand run" -l resume -x -k -a "(ralph __complete runs)"
complete -c ralph -n "__fish_ralph_using_subcommand run" -l mode -x -a "(ralph __complete modes)"
complete -c ralph -n "__fish_ralph_using_subcommand search" -l run -x -k -a "(ralph __complete runs)"
"#;

const ZSH: &str = r#"_ralph_known_words() {
    local -a words_found
    words_found=("${(@f)$(ralph __complete $1 2>/dev/null)}")
    words_found=("${words_found[@]//:/\\:}")
    words_found=("${words_found[@]/$'\t'/:}")
    _describe -V "$1" words_found
}
_ralph_runs() { _ralph_known_words runs }
_ralph_modes() { _ralph_known_words modes }

"#;

fn zsh(script: &str) -> String {
    let line = |line: &str| {
        let is_run = ["run -- ", "--resume=[", "--run=["]
            .iter()
            .any(|start| line.contains(start));
        let words = match line.contains("--mode=[") {
            true => ":_ralph_modes'",
            false if is_run => ":_ralph_runs'",
            false => return format!("{line}\n"),
        };
        format!("{}\n", line.replace(":_default'", words))
    };
    let lines: String = script.lines().map(line).collect();
    lines.replacen("_ralph() {", &format!("{ZSH}_ralph() {{"), 1)
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use clap_complete::Shell;

    use super::render_completions;

    #[test]
    fn every_shell_learns_the_commands_but_not_the_hidden_ones() {
        for shell in Shell::value_variants() {
            let script = render_completions(*shell);
            assert!(
                script.contains("replay") && script.contains("max-iterations"),
                "{shell}"
            );
            // A subcommand is named like this in every script.
            assert!(!script.contains("ralph__runner"), "{shell}");
            if matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish) {
                assert!(script.contains("ralph __complete"), "{shell}");
            }
        }
    }
}

//! `ralph completions`.

use clap_complete::Shell;

use crate::cli::command;

/// Writes the completion script of a shell.
#[must_use]
pub fn render_completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "ralph", &mut script);
    String::from_utf8_lossy(&script).into_owned()
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
        }
    }
}

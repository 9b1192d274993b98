//! `ralph clean`: removes finished runs.

use std::time::Duration;

use clap::Args;
use jiff::{SignedDuration, Timestamp};
use ralph_run::{CleanMode, Cleaned, Home, clean};
use serde_json::json;

use super::runs::note_lost;
use crate::console::{render_json_pretty, write_stderr, write_stdout};
use crate::settings::values::parse_duration;

/// Remove finished runs
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph clean --dry-run
  ralph clean --older-than 7d
  ralph clean --all

Active runs are never removed.")]
pub struct CleanArgs {
    /// Show what would be removed
    #[arg(long)]
    pub dry_run: bool,

    /// Only runs that ended longer ago than this
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "30d", conflicts_with = "all")]
    pub older_than: Duration,

    /// All finished runs, whatever their age
    #[arg(long)]
    pub all: bool,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Removes runs, or lists those it would remove.
pub fn execute(args: &CleanArgs, home: &Home) -> anyhow::Result<u8> {
    note_lost(home)?;
    let age = if args.all { Duration::ZERO } else { args.older_than };
    let age = SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX);
    // No run is older than the first timestamp.
    let before = Timestamp::now().checked_sub(age).unwrap_or(Timestamp::MIN);
    let mode = if args.dry_run {
        CleanMode::DryRun
    } else {
        CleanMode::Remove
    };
    let cleaned = clean(home, before, mode)?;
    if args.json {
        write_stdout(&render_json_pretty(&json!({
            "removed": cleaned.removed,
            "freed_bytes": cleaned.freed_bytes,
            "failed": cleaned
                .failed
                .iter()
                .map(|(id, error)| json!({"run_id": id, "error": error.to_string()}))
                .collect::<Vec<_>>(),
            "is_dry_run": args.dry_run,
        }))?);
    } else {
        write_stdout(&render(&cleaned, mode));
    }
    for (id, error) in &cleaned.failed {
        write_stderr(&format!("ralph: cannot remove run {id}: {error}\n"));
    }
    Ok(u8::from(!cleaned.failed.is_empty()))
}

fn render(cleaned: &Cleaned, mode: CleanMode) -> String {
    let verb = match mode {
        CleanMode::DryRun => "would remove",
        CleanMode::Remove => "removed",
    };
    let mut text = String::new();
    for id in &cleaned.removed {
        text.push_str(&format!("{verb} {id}\n"));
    }
    text.push_str(&match cleaned.removed.len() {
        0 => "nothing to remove\n".to_owned(),
        1 => format!("{verb} 1 run, {}\n", format_bytes(cleaned.freed_bytes)),
        count => format!("{verb} {count} runs, {}\n", format_bytes(cleaned.freed_bytes)),
    });
    text
}

/// `12 B`, `3.4 kB`, `5.6 MB`.
pub(super) fn format_bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1_000 {
        return format!("{bytes} B");
    }
    let mut tenths = bytes / 100;
    let mut units = UNITS.iter();
    let mut unit = units.next();
    while tenths >= 10_000 {
        let Some(next) = units.next() else { break };
        tenths /= 1_000;
        unit = Some(next);
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, unit.unwrap_or(&""))
}

#[cfg(test)]
mod tests {
    use super::format_bytes;

    #[test]
    fn sizes_have_a_unit_that_fits() {
        for (bytes, told) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (999_999, "999.9 kB"),
            (12_345_678, "12.3 MB"),
            (u64::MAX, "18446744.0 TB"),
        ] {
            assert_eq!(format_bytes(bytes), told);
        }
    }
}

//! `ralph tasks check`: everything that is wrong in task files, with file and line.

use super::Workplace;
use crate::console::write_stdout;
use run_view::sanitise;

pub(super) fn execute(place: &Workplace) -> anyhow::Result<u8> {
    let backlog = place.folder.load()?;
    for problem in backlog.problems() {
        write_stdout(&format!("{}\n", sanitise(&problem.to_string())));
    }
    let errors = backlog
        .problems()
        .iter()
        .filter(|problem| problem.is_error())
        .count();
    if backlog.problems().is_empty() {
        let count = backlog.tasks().count();
        let tasks = if count == 1 { "task" } else { "tasks" };
        write_stdout(&format!("{count} {tasks}, no problems\n"));
    }
    Ok(u8::from(errors > 0))
}

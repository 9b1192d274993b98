//! `render_task_tree()` and `render_ready_tasks()`: the backlog as text.

use std::collections::BTreeSet;

use ralph_tasks::{Board, Card, Column, TaskId};
use run_view::one_line;

use super::options::Options;
use super::style::{Style, paint};

/// What a tree shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskTree {
    /// Why tasks are not started. Blocked ones always say it.
    pub shows_why: bool,
    pub shows_done: bool,
}

const ID_COLUMNS: usize = 5;
const STATE_COLUMNS: usize = 7;
const GAP: &str = "  ";
const MIN_TITLE_COLUMNS: usize = 20;
/// A pipe has no width, and a title ends by itself.
const PIPE_COLUMNS: usize = 240;

/// All tasks below their parents, and a line that counts them.
pub fn render_task_tree(board: &Board<'_>, options: &Options, tree: TaskTree) -> String {
    let mut rows = Rows::new(board, options, tree);
    for root in board.backlog.roots() {
        rows.push_tree(root, 0);
    }
    let counted = counts(board, tree);
    if !rows.text.is_empty() {
        rows.text.push('\n');
    }
    rows.text.push_str(&counted);
    rows.text
}

/// The tasks that can be worked on, in the order in which they would start.
pub fn render_ready_tasks(board: &Board<'_>, options: &Options, shows_why: bool) -> String {
    let tree = TaskTree {
        shows_why,
        shows_done: false,
    };
    let mut rows = Rows::new(board, options, tree);
    for card in board.ready() {
        rows.push_card(card, 0);
    }
    if rows.text.is_empty() {
        return "No task can start; `ralph tasks --why` says why.\n".to_owned();
    }
    rows.text
}

fn counts(board: &Board<'_>, tree: TaskTree) -> String {
    let is_leaf = |card: &&Card<'_>| board.backlog.children(&card.task.id).is_empty();
    let count = |column: Column| board.in_column(column).filter(is_leaf).count();
    let parts: Vec<String> = Column::ALL
        .into_iter()
        .filter_map(|column| match (count(column), column) {
            (0, _) => None,
            (count, Column::Done) if !tree.shows_done => Some(format!("{count} done (`--all` shows them)")),
            (count, column) => Some(format!("{count} {}", column.word())),
        })
        .collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!("{}\n", parts.join(", ")),
    }
}

struct Rows<'a> {
    board: &'a Board<'a>,
    has_colours: bool,
    columns: usize,
    tree: TaskTree,
    seen: BTreeSet<TaskId>,
    text: String,
}

impl<'a> Rows<'a> {
    fn new(board: &'a Board<'a>, options: &Options, tree: TaskTree) -> Self {
        Self {
            board,
            has_colours: options.has_colours,
            columns: match options.is_terminal {
                true => options.width,
                false => PIPE_COLUMNS,
            },
            tree,
            seen: BTreeSet::new(),
            text: String::new(),
        }
    }

    fn push_tree(&mut self, id: &TaskId, depth: usize) {
        // Tasks that are their own ancestors are shown once.
        if !self.seen.insert(id.clone()) {
            return;
        }
        let board = self.board;
        let Some(card) = board.card(id) else { return };
        if card.column == Column::Done && !self.tree.shows_done {
            return;
        }
        self.push_card(card, depth);
        for child in board.backlog.children(id) {
            self.push_tree(child, depth + 1);
        }
    }

    fn push_card(&mut self, card: &Card<'_>, depth: usize) {
        let (id, word) = (card.task.id.as_str(), card.column.word());
        paint(&mut self.text, self.has_colours, Style::Faint, id);
        self.text.push_str(GAP);
        paint(&mut self.text, self.has_colours, style(card.column), word);
        self.text
            .push_str(&" ".repeat(STATE_COLUMNS.saturating_sub(word.len())));
        self.text.push_str(GAP);
        let indent = GAP.repeat(depth);
        let used = ID_COLUMNS + STATE_COLUMNS + 2 * GAP.len() + indent.len();
        let room = self.columns.saturating_sub(used).max(MIN_TITLE_COLUMNS);
        self.text.push_str(&indent);
        self.text.push_str(&one_line(&card.task.title, room));
        self.text.push('\n');
        if let Some(why) = card
            .why
            .as_ref()
            .filter(|_| self.tree.shows_why || card.column == Column::Blocked)
        {
            self.text.push_str(&" ".repeat(used));
            paint(
                &mut self.text,
                self.has_colours,
                Style::Faint,
                &one_line(&why.to_string(), room),
            );
            self.text.push('\n');
        }
    }
}

fn style(column: Column) -> Style {
    match column {
        Column::Todo => Style::Faint,
        Column::Ready => Style::Strong,
        Column::Doing => Style::Tool,
        Column::Review => Style::Warning,
        Column::Done => Style::Good,
        Column::Blocked => Style::Error,
    }
}

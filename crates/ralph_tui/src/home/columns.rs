//! `Columns`: which columns the list of runs has in a window of some width.

/// What a column shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    State,
    Id,
    /// The task or the prompt. Without `Now`, what the run is doing comes first.
    Title,
    /// What the run is doing, with the running time of its tool.
    Now,
    Workspace,
    Agent,
    Iteration,
    Cost,
    CostBar,
    Activity,
    Warnings,
    Age,
}

impl Column {
    pub(super) fn head(self) -> &'static str {
        match self {
            Self::State => "STATE",
            Self::Id => "RUN",
            Self::Title => "WHAT",
            Self::Now => "NOW",
            Self::Workspace => "WORKSPACE",
            Self::Agent => "AGENT",
            Self::Iteration => "ITER",
            Self::Cost => "COST",
            Self::CostBar => "OF LIMIT",
            Self::Activity => "ACTIVITY",
            Self::Warnings => "",
            Self::Age => "AGE",
        }
    }

    pub(super) fn is_right_aligned(self) -> bool {
        matches!(self, Self::Iteration | Self::Cost | Self::Warnings | Self::Age)
    }
}

/// A column, what it needs at least, and how wide it is useful.
struct Wish {
    column: Column,
    columns: usize,
    max: usize,
}

const fn wish(column: Column, columns: usize, max: usize) -> Wish {
    Wish { column, columns, max }
}

/// Those that are always there.
const TITLE_COLUMNS: usize = 22;
const STATE_COLUMNS: usize = 11;
const ID_COLUMNS: usize = 8;

/// By importance: a window that is too narrow has the first ones.
const WISHES: [Wish; 9] = [
    wish(Column::Age, 4, 4),
    wish(Column::Warnings, 3, 3),
    wish(Column::Iteration, 6, 7),
    wish(Column::Cost, 7, 8),
    wish(Column::Now, 24, 56),
    wish(Column::CostBar, 8, 12),
    wish(Column::Workspace, 12, 36),
    wish(Column::Activity, 10, 30),
    wish(Column::Agent, 14, 34),
];

/// From left to right.
const ORDER: [Column; 12] = [
    Column::State,
    Column::Id,
    Column::Title,
    Column::Now,
    Column::Workspace,
    Column::Agent,
    Column::Iteration,
    Column::Cost,
    Column::CostBar,
    Column::Activity,
    Column::Warnings,
    Column::Age,
];

/// The columns from left to right, with their widths. There is one space between two of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns(Vec<(Column, usize)>);

impl Columns {
    pub(super) fn fit(width: usize) -> Self {
        let mut free = width.saturating_sub(STATE_COLUMNS + 1 + ID_COLUMNS + 1 + TITLE_COLUMNS);
        let mut chosen = vec![
            (Column::State, STATE_COLUMNS),
            (Column::Id, ID_COLUMNS),
            (Column::Title, TITLE_COLUMNS),
        ];
        let mut fitting = 0;
        for wish in &WISHES {
            if wish.columns + 1 > free {
                break;
            }
            chosen.push((wish.column, wish.columns));
            free -= wish.columns + 1;
            fitting += 1;
        }
        // Half of what is left is the title's, as long as another column has a use for it.
        let mut extra = free / 2;
        for wish in WISHES.iter().take(fitting) {
            let more = (wish.max - wish.columns).min(extra);
            extra -= more;
            free -= more;
            if let Some(column) = chosen.iter_mut().find(|(column, _)| *column == wish.column) {
                column.1 += more;
            }
        }
        if let Some(title) = chosen.iter_mut().find(|(column, _)| *column == Column::Title) {
            title.1 += free;
        }
        chosen.sort_by_key(|(column, _)| ORDER.iter().position(|other| other == column));
        Self(chosen)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Column, usize)> {
        self.0.iter().copied()
    }

    pub(super) fn has(&self, column: Column) -> bool {
        self.0.iter().any(|(other, _)| *other == column)
    }
}

#[cfg(test)]
mod tests {
    use super::{Column, Columns};

    #[test]
    fn columns_fill_any_window_and_never_exceed_it() {
        for width in 60..400 {
            let columns = Columns::fit(width);
            let used: usize = columns.iter().map(|(_, columns)| columns + 1).sum();
            assert_eq!(used - 1, width);
        }
    }

    #[test]
    fn a_wider_window_only_adds_columns() {
        let mut before = Columns::fit(60);
        for width in 61..400 {
            let columns = Columns::fit(width);
            assert!(before.iter().all(|(column, _)| columns.has(column)), "{width}");
            before = columns;
        }
        assert!(before.has(Column::Agent) && before.has(Column::Activity));
    }
}

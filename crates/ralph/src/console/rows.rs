//! Lines with a label, such as `[Tool] Read: src/main.rs`.

use agent_api::{
    Denial, PermissionRequested, Question, RateLimit, Retry, SessionStarted, Task, Usage, UsageScope,
};

use run_view::{
    DetailKind, describe_denial, describe_permission_request, describe_rate_limit, describe_retry,
    describe_session, describe_task, fold_blanks, format_cost, format_tokens, one_line, request_detail,
    sanitise, visible, width, wrap,
};

use super::options::Options;
use super::style::{Style, paint};

/// The width of lines without a terminal, and of results.
const MAX_COLUMNS: usize = 200;
/// How far further lines of a text are indented.
const INDENT: usize = 2;

#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) has_colours: bool,
    /// The limit of one-line texts, label included.
    pub(super) columns: usize,
    /// Whether longer texts are broken between words there.
    pub(super) wraps: bool,
}

impl Look {
    pub(super) fn new(options: &Options) -> Self {
        let columns = if options.is_terminal {
            options.width.min(MAX_COLUMNS)
        } else {
            MAX_COLUMNS
        };
        Self {
            has_colours: options.has_colours,
            columns,
            wraps: options.is_terminal,
        }
    }

    /// `[Label] text` in one line, cut.
    pub(super) fn row(&self, style: Style, label: &str, text: &str) -> String {
        let mut row = String::new();
        self.push_label(&mut row, style, label);
        let room = self.columns.saturating_sub(width(label) + 3);
        row.push_str(&one_line(text, room));
        row.push('\n');
        row
    }

    /// `[Label] text` with all its lines, further ones indented.
    pub(super) fn rows(&self, style: Style, label: &str, text: &str) -> String {
        let mut rows = String::new();
        self.push_label(&mut rows, style, label);
        let text = sanitise(text);
        for (number, line) in text.trim().lines().enumerate() {
            let indent = if number == 0 { width(label) + 3 } else { INDENT };
            if number > 0 {
                rows.push_str(&format!("\n{:INDENT$}", ""));
            }
            let is_long = indent + width(line) > self.columns;
            if self.wraps && is_long && !line.starts_with(char::is_whitespace) {
                rows.push_str(&wrap(line, indent.min(self.columns / 2), self.columns));
            } else {
                rows.push_str(line.trim_end());
            }
        }
        rows.push('\n');
        rows
    }

    fn push_label(&self, out: &mut String, style: Style, label: &str) {
        paint(out, self.has_colours, style, &format!("[{label}]"));
        out.push(' ');
    }
}

pub(super) fn render_retry(look: Look, retry: &Retry) -> String {
    look.row(Style::Warning, "Retry", &describe_retry(retry))
}

pub(super) fn render_session(look: Look, session: &SessionStarted) -> String {
    look.row(Style::Faint, "Session", &describe_session(session))
}

/// `[Usage] in 1200 (cached 1000) out 34 $0.0096`; nothing for a single call of the model, which its turn includes.
pub(super) fn render_usage(look: Look, usage: &Usage) -> Option<String> {
    let (tokens, cost) = match usage.scope {
        UsageScope::Step => return None,
        UsageScope::Turn => (usage.tokens, usage.cost),
        UsageScope::Run | UsageScope::Session => (usage.run.tokens, usage.run.cost),
    };
    let mut text = format_tokens(&tokens);
    if let Some(cost) = cost {
        text.push(' ');
        text.push_str(&format_cost(cost.micro_usd));
    }
    Some(look.row(Style::Faint, "Usage", &text))
}

pub(super) fn render_permission(look: Look, asked: &PermissionRequested, hint: &str) -> String {
    let text = describe_permission_request(asked);
    // Never cut to the width: what is approved must be seen.
    let look_as_written = Look { wraps: false, ..look };
    let mut rows = look_as_written.rows(Style::Warning, "Permission", &visible(&fold_blanks(&text)));
    for row in request_detail(asked).rows {
        rows.push_str("  ");
        match row.kind {
            DetailKind::Plain => rows.push_str(&row.text),
            DetailKind::Added => paint(&mut rows, look.has_colours, Style::Good, &row.text),
            DetailKind::Removed => paint(&mut rows, look.has_colours, Style::Error, &row.text),
            DetailKind::Remark | DetailKind::Grant => {
                paint(&mut rows, look.has_colours, Style::Faint, &row.text);
            }
        }
        rows.push('\n');
    }
    push_faint(&mut rows, look, hint);
    rows
}

/// How much there is to read before a request can be decided about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RequestSize {
    /// Lines of what would be executed or written; 0 if the request in one line has all of it.
    pub(crate) lines: usize,
    /// Rows that it takes on the screen.
    pub(crate) rows: usize,
    /// Whether a part of it is not shown at all, because it is too long.
    pub(crate) is_cut: bool,
}

/// Measures a request as [`render_permission`] shows it on a screen with this many columns.
pub(crate) fn measure_request(asked: &PermissionRequested, columns: usize) -> RequestSize {
    let look = Look {
        has_colours: false,
        columns,
        wraps: false,
    };
    let detail = request_detail(asked);
    let height = |line: &str| width(line).div_ceil(columns.max(1)).max(1);
    RequestSize {
        lines: detail.lines,
        rows: render_permission(look, asked, "").lines().map(height).sum(),
        is_cut: detail.is_cut,
    }
}

pub(super) fn render_question(look: Look, questions: &[Question], hint: &str) -> String {
    let mut rows = String::new();
    for question in questions {
        rows.push_str(&look.rows(Style::Warning, "Question", &question.text));
        for (number, option) in (1..).zip(&question.options) {
            let mut text = format!("{number}. {}", option.label);
            if let Some(description) = &option.description {
                text.push_str(": ");
                text.push_str(description);
            }
            rows.push_str("  ");
            rows.push_str(&one_line(&text, look.columns.saturating_sub(2)));
            rows.push('\n');
        }
    }
    push_faint(&mut rows, look, hint);
    rows
}

pub(super) fn render_plan_proposed(look: Look, plan: &str, hint: &str) -> String {
    let mut rows = look.rows(Style::Warning, "Plan", plan);
    push_faint(&mut rows, look, hint);
    rows
}

fn push_faint(rows: &mut String, look: Look, text: &str) {
    if text.is_empty() {
        return;
    }
    paint(rows, look.has_colours, Style::Faint, &format!("  {text}"));
    rows.push('\n');
}

pub(super) fn render_denial(look: Look, denial: &Denial) -> String {
    look.row(Style::Error, "Denied", &describe_denial(denial))
}

pub(super) fn render_rate_limit(look: Look, limit: &RateLimit) -> Option<String> {
    Some(look.row(Style::Warning, "Warning", &describe_rate_limit(limit)?))
}

pub(super) fn render_task(look: Look, task: &Task) -> Option<String> {
    Some(look.row(Style::Faint, "Task", &describe_task(task)?))
}

#[cfg(test)]
mod tests {
    use agent_api::{Json, PermissionRequested, RequestId, ToolKind};
    use serde_json::{Value, json};

    use super::measure_request;

    #[test]
    fn a_request_is_measured_as_it_is_shown() {
        let measure = |kind, input: Value| {
            let mut asked = PermissionRequested::new(RequestId::new("p"), "Tool", kind);
            asked.subject = Some("ls".to_owned());
            asked.input = Json::from_text(input.to_string()).ok();
            let size = measure_request(&asked, 20);
            (size.lines, size.rows, size.is_cut)
        };
        let execute = ToolKind::Execute;
        // `[Permission] Tool: ls` takes two rows.
        assert_eq!(measure(execute, json!({"command": "ls"})), (0, 2, false));
        let sandbox = json!({"command": "ls", "dangerouslyDisableSandbox": true});
        assert_eq!(measure(execute, sandbox), (0, 4, false));
        let folded = json!({"command": format!("a{}b", "\n".repeat(61))});
        assert_eq!(measure(execute, folded), (62, 5, false));
        let long = json!({"command": format!("a {}", "x".repeat(38))});
        assert_eq!(measure(execute, long), (1, 5, false));
        let longer = json!({"command": "x".repeat(3_000)});
        assert!(measure(execute, longer).2);
        let write = json!({"file_path": "ls", "content": "x\n".repeat(67)});
        assert_eq!(measure(ToolKind::Edit, write), (67, 63, true));
        let script = json!({"script": "a\nb\nc"});
        assert_eq!(measure(ToolKind::Mcp, script), (3, 5, false));
    }
}

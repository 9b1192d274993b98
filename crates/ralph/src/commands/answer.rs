//! `ralph answer`: answer what an agent asks, or list what it asks.

use agent_api::RequestId;
use anyhow::{Context as _, bail};
use ralph_run::control::{AnswerChoice, ControlCommand, PendingRequest, PendingRequests};
use ralph_run::{Home, RunDirectory, read_journal};
use serde_json::{Value, json};

use super::reach;
use crate::cli::AnswerArgs;
use crate::console::{Port, one_line};

/// What the agent is told where nobody gave a reason.
const NO_REASON: &str = "The user does not want this.";

/// How much of one request a list shows.
const COLUMNS: usize = 160;

/// What to answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The run: its id, the start of it, or `latest`.
    pub run: String,
    /// The request, or the start of its id; needed only where several are open.
    pub request: Option<String>,
    /// The answer; without one, what is asked is listed.
    pub choice: Option<AnswerChoice>,
    /// How a list is shown.
    pub format: ListFormat,
}

/// How a list is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

impl From<AnswerArgs> for Answer {
    fn from(args: AnswerArgs) -> Self {
        let choice = if args.allow {
            Some(AnswerChoice::Allow)
        } else if args.always {
            Some(AnswerChoice::AllowAlways)
        } else if let Some(reason) = args.deny {
            let is_given = !reason.trim().is_empty();
            let reason = if is_given { reason } else { NO_REASON.to_owned() };
            Some(AnswerChoice::Deny { reason })
        } else {
            let answers = args.choose;
            (!answers.is_empty()).then_some(AnswerChoice::Answers { answers })
        };
        Self {
            run: args.run,
            request: args.request,
            choice,
            format: if args.json {
                ListFormat::Json
            } else {
                ListFormat::Text
            },
        }
    }
}

/// Answers, or lists what is asked.
///
/// # Errors
/// When there is no such run or request, the request is not clear, or the runner refuses.
pub async fn execute(answer: Answer, home: &Home, out: &mut dyn Port) -> anyhow::Result<u8> {
    let run = reach::find(home, &answer.run)?;
    let pending = pending(&run)?;
    let Some(choice) = answer.choice else {
        out.send(&match answer.format {
            ListFormat::Json => render_json(&pending),
            ListFormat::Text if pending.is_empty() => format!("run {} asks for nothing\n", run.id()),
            ListFormat::Text => render_list(&pending),
        });
        return Ok(0);
    };
    let request = choose(&pending, answer.request.as_deref(), run.id())?;
    let answered = request.id().clone();
    let command = ControlCommand::Answer {
        request: answered.clone(),
        answer: choice,
    };
    reach::ask(&run, command).await?;
    out.send(&format!(
        "answered {} of run {}\n",
        one_line(answered.as_str(), COLUMNS),
        run.id()
    ));
    Ok(0)
}

/// What the journal says that nobody has answered yet.
fn pending(run: &RunDirectory) -> anyhow::Result<PendingRequests> {
    let mut pending = PendingRequests::default();
    let journal =
        read_journal(&run.journal()).with_context(|| format!("run {} has no journal yet", run.id()))?;
    // What is damaged is not this command's business: `ralph logs` tells.
    for record in journal.flatten() {
        pending.observe_record(&record);
    }
    Ok(pending)
}

fn choose<'a>(
    pending: &'a PendingRequests,
    asked: Option<&str>,
    run: &str,
) -> anyhow::Result<&'a PendingRequest> {
    if let Some(asked) = asked
        && let Some(exact) = pending.get(&RequestId::new(asked))
    {
        return Ok(exact);
    }
    let prefix = asked.unwrap_or_default();
    let mut candidates = pending
        .iter()
        .filter(|request| request.id().as_str().starts_with(prefix));
    match (candidates.next(), candidates.next(), asked) {
        (Some(request), None, _) => Ok(request),
        (Some(_), Some(_), _) => bail!(
            "run {run} asks for several things, say which:\n{}",
            render_list(pending).trim_end()
        ),
        (None, _, Some(asked)) => bail!(
            "run {run} has no open request `{}`: it was answered, withdrawn, or never there",
            one_line(asked, COLUMNS)
        ),
        (None, _, None) => bail!("run {run} asks for nothing"),
    }
}

fn render_list(pending: &PendingRequests) -> String {
    let mut list = String::new();
    for request in pending.iter() {
        for line in lines(request) {
            list.push_str(&one_line(&line, COLUMNS));
            list.push('\n');
        }
    }
    list
}

/// The first line names the request; further ones are indented by a dash, because white space is joined.
fn lines(request: &PendingRequest) -> Vec<String> {
    let id = request.id();
    match request {
        PendingRequest::Permission(asked) => {
            let subject = asked
                .subject
                .as_ref()
                .map(|it| format!(": {it}"))
                .unwrap_or_default();
            let mut lines = vec![format!("{id} permission {}{subject}", asked.tool)];
            lines.extend(asked.description.as_ref().map(|it| format!("- {it}")));
            lines
        }
        PendingRequest::Question(asked) => {
            let mut lines = vec![format!("{id} question")];
            for question in &asked.questions {
                lines.push(format!("- {}", question.text));
                if !question.options.is_empty() {
                    let labels: Vec<&str> = question.options.iter().map(|it| it.label.as_str()).collect();
                    lines.push(format!("- choose: {}", labels.join(" | ")));
                }
            }
            lines
        }
        PendingRequest::Plan(asked) => vec![format!("{id} plan"), format!("- {}", asked.plan)],
    }
}

fn render_json(pending: &PendingRequests) -> String {
    let list: Vec<Value> = pending
        .iter()
        .map(|request| match request {
            PendingRequest::Permission(asked) => json!({"kind": "permission", "data": asked}),
            PendingRequest::Question(asked) => json!({"kind": "question", "data": asked}),
            PendingRequest::Plan(asked) => json!({"kind": "plan", "data": asked}),
        })
        .collect();
    format!("{}\n", Value::from(list))
}

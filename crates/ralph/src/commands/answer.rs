//! `ralph answer`: lists the open requests of an agent, or answers one.

use std::io::Write;

use agent_api::{Question, RequestId};
use anyhow::bail;
use clap::Args;
use ralph_run::control::{AnswerChoice, ControlCommand, PendingRequest, PendingRequests};
use ralph_run::{Home, RunDirectory};
use serde_json::{Value, json};

use super::run_client;
use crate::console::{one_line, render_json, visible, write_text};

/// List an agent's open requests, or answer one
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph answer latest                 list open requests
  ralph answer latest --allow         allow the only open request
  ralph answer g4k7m2 --deny \"not in production\"
  ralph answer g4k7m2 --request req_7 --choose \"Use tokio\"

Without --allow, --always, --deny or --choose, open requests are listed.")]
pub struct AnswerArgs {
    /// Run id or a unique beginning of it, or `latest`
    pub run: String,

    /// Request id; needed only if several are open
    #[arg(long, value_name = "ID")]
    pub request: Option<String>,

    /// Allow it, or approve the plan
    #[arg(long, group = "reply")]
    pub allow: bool,

    /// Allow it, and do not ask again in this session
    #[arg(long, group = "reply")]
    pub always: bool,

    /// Deny it, optionally with a reason for the agent
    #[arg(long, value_name = "REASON", num_args = 0..=1, default_missing_value = "", group = "reply")]
    pub deny: Option<String>,

    /// Answer to a question: an option or its number; repeat it for more questions
    #[arg(long, value_name = "ANSWER", group = "reply")]
    pub choose: Vec<String>,

    /// Print JSON
    #[arg(long, conflicts_with = "reply")]
    pub json: bool,
}

/// The reason for the agent if none is given.
const NO_REASON: &str = "The user does not want this.";

/// How much of one request a list shows.
const COLUMNS: usize = 160;

impl AnswerArgs {
    /// Without one, the open requests are listed.
    fn choice(&self) -> Option<AnswerChoice> {
        if self.allow {
            return Some(AnswerChoice::Allow);
        }
        if self.always {
            return Some(AnswerChoice::AllowAlways);
        }
        if let Some(reason) = &self.deny {
            let is_given = !reason.trim().is_empty();
            let reason = if is_given { reason } else { NO_REASON };
            return Some(AnswerChoice::Deny {
                reason: reason.to_owned(),
            });
        }
        let answers = self.choose.clone();
        (!answers.is_empty()).then_some(AnswerChoice::Answers { answers })
    }
}

/// Lists the open requests, or answers one.
pub async fn execute(args: &AnswerArgs, home: &Home, out: &mut dyn Write) -> anyhow::Result<u8> {
    let run = run_client::find_to_control(home, &args.run)?;
    let pending = pending(&run)?;
    let Some(choice) = args.choice() else {
        write_text(
            out,
            &if args.json {
                render_pending(&pending)?
            } else if pending.is_empty() {
                format!("run {} has no open requests\n", run.id())
            } else {
                render_list(&pending)
            },
        );
        return Ok(0);
    };
    let request = choose(&pending, args.request.as_deref(), run.id())?;
    let answered = request.id().clone();
    let command = ControlCommand::Answer {
        request: answered.clone(),
        answer: with_option_labels(request, choice)?,
    };
    run_client::ask(&run, command).await?;
    write_text(
        out,
        &format!(
            "answered {} of run {}\n",
            one_line(answered.as_str(), COLUMNS),
            run.id()
        ),
    );
    Ok(0)
}

/// Replaces the numbers of options by their labels.
fn with_option_labels(request: &PendingRequest, choice: AnswerChoice) -> anyhow::Result<AnswerChoice> {
    let (AnswerChoice::Answers { answers }, PendingRequest::Question(asked)) = (&choice, request) else {
        return Ok(choice);
    };
    if answers.len() != asked.questions.len() {
        // The runner says so.
        return Ok(choice);
    }
    let labels = asked.questions.iter().zip(answers).map(|(question, typed)| {
        if question.options.is_empty() {
            return Ok(typed.clone());
        }
        let parts: Vec<&str> = match question.is_multiple {
            true => typed.split(',').map(str::trim).collect(),
            false => vec![typed.trim()],
        };
        let labels: Option<Vec<&str>> = parts.iter().map(|part| option_label(question, part)).collect();
        // A label may contain a comma.
        let labels = labels.or_else(|| Some(vec![option_label(question, typed.trim())?]));
        labels.map(|labels| labels.join(", ")).ok_or_else(|| {
            let options = question.options.iter().zip(1..);
            let options: Vec<String> = options
                .map(|(option, number)| format!("{number} {}", option.label))
                .collect();
            anyhow::anyhow!(
                "`{}` is not an option of \"{}\"; choose {}, or answer in your own words with `--deny TEXT`",
                one_line(typed, COLUMNS),
                one_line(&question.text, COLUMNS),
                one_line(&options.join(", "), COLUMNS)
            )
        })
    });
    let answers = labels.collect::<anyhow::Result<_>>()?;
    Ok(AnswerChoice::Answers { answers })
}

/// The option with this number, counted from 1, or with this label.
fn option_label<'a>(question: &'a Question, typed: &str) -> Option<&'a str> {
    let by_label = question
        .options
        .iter()
        .find(|option| option.label.eq_ignore_ascii_case(typed));
    let by_number = || question.options.get(typed.parse::<usize>().ok()?.checked_sub(1)?);
    by_label.or_else(by_number).map(|option| option.label.as_str())
}

/// The open requests, from the journal.
fn pending(run: &RunDirectory) -> anyhow::Result<PendingRequests> {
    let mut pending = PendingRequests::default();
    for record in run_client::records(run)? {
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
            "run {run} has several open requests; choose one with --request:\n{}",
            render_list(pending).trim_end()
        ),
        (None, _, Some(asked)) => bail!(
            "run {run} has no open request `{}`; it may have been answered or withdrawn",
            one_line(asked, COLUMNS)
        ),
        (None, _, None) => bail!("run {run} has no open requests"),
    }
}

fn render_list(pending: &PendingRequests) -> String {
    let mut list = String::new();
    for request in pending.iter() {
        for line in lines(request) {
            list.push_str(&visible(&line).replace('\n', "\n  "));
            list.push('\n');
        }
    }
    list
}

/// The first line names the request.
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

fn render_pending(pending: &PendingRequests) -> serde_json::Result<String> {
    let list: Vec<Value> = pending
        .iter()
        .map(|request| match request {
            PendingRequest::Permission(asked) => json!({"kind": "permission", "data": asked}),
            PendingRequest::Question(asked) => json!({"kind": "question", "data": asked}),
            PendingRequest::Plan(asked) => json!({"kind": "plan", "data": asked}),
        })
        .collect();
    render_json(&list)
}

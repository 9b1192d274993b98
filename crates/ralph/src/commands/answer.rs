//! `ralph answer`: lists the open requests of an agent, or answers one.

use std::io::Write;

use agent_api::{GrantKind, PermissionRequested, RequestId};
use anyhow::bail;
use clap::Args;
use ralph_run::control::{AnswerChoice, ControlCommand, PendingRequest, PendingRequests};
use ralph_run::{Home, RunDirectory};
use serde_json::{Value, json};

use super::run_client;
use crate::console::{render_json, write_text};
use crate::keyboard::{denial, option_labels};
use run_view::{RequestDetail, describe_grant, one_line, visible};

/// List an agent's open requests, or answer one
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph answer latest                 list open requests
  ralph answer latest --allow         allow the only open request
  ralph answer latest --always 1      allow it, and give `always 1`
  ralph answer g4k7m2 --deny \"not in production\"
  ralph answer g4k7m2 --request req_7 --choose 2
  ralph answer g4k7m2 --text \"Use tokio, but only for tests\"

Without an answer, open requests are listed.")]
pub struct AnswerArgs {
    /// Run id or a unique beginning of it, or `latest`
    pub run: String,

    /// Request id; needed only if several are open
    #[arg(long, value_name = "ID")]
    pub request: Option<String>,

    /// Allow it, or approve the plan
    #[arg(long, group = "reply")]
    pub allow: bool,

    /// Allow it, and give a lasting permission that the request offers, by its number in the list; once for each
    #[arg(long, value_name = "NUMBER", num_args = 0..=1, default_missing_value = "0", group = "reply")]
    pub always: Vec<usize>,

    /// Deny it, optionally with a reason for the agent
    #[arg(long, value_name = "REASON", num_args = 0..=1, default_missing_value = "", group = "reply")]
    pub deny: Option<String>,

    /// Choose an option by number or name, as 1,3 if several are allowed; once for each question
    #[arg(long, value_name = "OPTION", group = "reply")]
    pub choose: Vec<String>,

    /// Answer in your own words; once for each question
    #[arg(long, value_name = "ANSWER", group = "reply")]
    pub text: Vec<String>,

    /// Print JSON
    #[arg(long, conflicts_with = "reply")]
    pub json: bool,
}

/// Who answered, in the journal and for other views.
const ACTOR: &str = "ralph answer";

/// How much of one request a list shows.
const COLUMNS: usize = 160;

impl AnswerArgs {
    /// Without one, the open requests are listed.
    fn choice(&self) -> Option<AnswerChoice> {
        // Which grants the numbers stand for is known with the request.
        if self.allow || !self.always.is_empty() {
            return Some(AnswerChoice::allow_once());
        }
        if let Some(reason) = &self.deny {
            return Some(denial(reason));
        }
        let answers = if self.choose.is_empty() {
            &self.text
        } else {
            &self.choose
        };
        (!answers.is_empty()).then(|| AnswerChoice::Answers {
            answers: answers.clone(),
        })
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
        answer: match (args.choose.is_empty(), args.always.is_empty()) {
            (false, _) => with_option_labels(request, choice)?,
            (true, false) => with_grants(request, &args.always)?,
            (true, true) => choice,
        },
    };
    let mut client = run_client::connect(&run).await?.named(ACTOR);
    run_client::request(&mut client, &run, command).await?;
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

/// Allows the request with exactly the grants that these numbers stand for.
fn with_grants(request: &PendingRequest, numbers: &[usize]) -> anyhow::Result<AnswerChoice> {
    let PendingRequest::Permission(asked) = request else {
        bail!("only a permission request offers lasting permissions; use --allow");
    };
    if numbers == [0] {
        return only_rule(asked);
    }
    let grant = |number: &usize| {
        let index = number.checked_sub(1)?;
        asked.grants.get(index).map(|grant| grant.id.clone())
    };
    let missing = numbers.iter().find(|number| grant(number).is_none());
    if let Some(number) = missing {
        match asked.grants.len() {
            0 => bail!("this request offers no lasting permission; use --allow"),
            count => bail!("there is no `always {number}`; this request offers 1 to {count}"),
        }
    }
    Ok(AnswerChoice::Allow {
        grants: numbers.iter().filter_map(grant).collect(),
    })
}

/// `--always` without a number: allowed where it can mean only one thing.
fn only_rule(asked: &PermissionRequested) -> anyhow::Result<AnswerChoice> {
    match asked.grants.as_slice() {
        [] => bail!("this request offers no lasting permission; use --allow"),
        [only] if only.kind == GrantKind::Rule => Ok(AnswerChoice::Allow {
            grants: vec![only.id.clone()],
        }),
        grants => {
            let lines = (1..).zip(grants);
            let lines: Vec<String> = lines
                .map(|(number, grant)| format!("--always {number}: {}", describe_grant(grant)))
                .collect();
            bail!("say what to allow from now on:\n{}", lines.join("\n"))
        }
    }
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
        option_labels(question, typed).ok_or_else(|| {
            let options = question.options.iter().zip(1..);
            let options: Vec<String> = options
                .map(|(option, number)| format!("{number} {}", option.label))
                .collect();
            anyhow::anyhow!(
                "`{}` is not an option of \"{}\"; choose {}, or answer in your own words with `--text ANSWER`",
                one_line(typed, COLUMNS),
                one_line(&question.text, COLUMNS),
                one_line(&options.join(", "), COLUMNS)
            )
        })
    });
    let answers = labels.collect::<anyhow::Result<_>>()?;
    Ok(AnswerChoice::Answers { answers })
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
            let detail = RequestDetail::in_full(asked);
            if detail.lines > 1 {
                lines.push(format!("- {} lines:", detail.lines));
            }
            lines.extend(detail.rows.into_iter().map(|row| format!("  {}", row.text)));
            lines
        }
        PendingRequest::Question(asked) => {
            let mut lines = vec![format!("{id} question")];
            for question in &asked.questions {
                lines.push(format!("- {}", question.text));
                if !question.options.is_empty() {
                    let options = (1..).zip(&question.options);
                    let options: Vec<String> = options
                        .map(|(number, option)| format!("{number} {}", option.label))
                        .collect();
                    lines.push(format!("- choose: {}", options.join(" | ")));
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

//! `POST runs`, `…/resume` and `…/fork`: starting runs, and continuing the conversation of an earlier one.

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use ralph_run::PageQuery;
use ralph_run::control::PermissionChoice;
use ralph_store::{RunFold, RunSummary};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use utoipa::ToSchema;

use super::access::rate_limited;
use super::commands::PermissionMode;
use super::input::{InPath, JsonBody, OptionalJsonBody};
use super::schema::{self, RunKind};
use super::start_checks::{check, invalid};
use crate::app::App;
use crate::auth::Principal;
use crate::launch::{AuthChoice, SessionStart, StartRun, TrustChoice};
use crate::problem::{Problem, ProblemCode};
use crate::starts::admit;

/// Whether what is posted to this address starts a run.
pub(super) fn starts_run(path: &str) -> bool {
    path == "/api/v1/runs" || path.ends_with("/resume") || path.ends_with("/fork")
}

/// What a run is asked to do.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewRun {
    /// Whether it works by itself or waits for messages.
    #[serde(default)]
    kind: RunKind,
    /// Where the agent works: an absolute path.
    #[schema(min_length = 1, pattern = "^/", example = "/home/me/project")]
    workspace: String,
    /// Which agent; by the workspace's settings if absent.
    backend: Option<String>,
    /// Which model.
    model: Option<String>,
    /// What the agent is told. A session may begin without.
    prompt: Option<String>,
    /// Planner, coder, or a mode of the user's.
    mode: Option<String>,
    /// Names the task.
    task: Option<String>,
    /// What replaces the agent's system prompt.
    #[schema(min_length = 1, max_length = 102400)]
    system_prompt: Option<String>,
    /// What is added to the agent's system prompt.
    #[schema(min_length = 1, max_length = 102400)]
    append_system_prompt: Option<String>,
    /// The tools that need no permission, such as `Read` or `Bash(git:*)`.
    #[schema(max_items = 1000)]
    allowed_tools: Option<Vec<String>>,
    /// Which login the agent uses; by the workspace's settings if absent.
    auth: Option<AuthChoice>,
    /// Whether the agent must take messages while it works (true), or is told its prompt and nothing else (false): then
    /// nobody can answer its requests, which are denied. What the agent can do decides if absent.
    accepts_input: Option<bool>,
    /// A conversation that the agent has, also one that is not from a run.
    resume: Option<ResumedSession>,
    /// Whether one iteration is all.
    #[serde(default)]
    once: bool,
    /// The limits of the run.
    #[serde(default)]
    limits: Limits,
    /// The commands that verify the work; by the workspace's settings if absent.
    verify: Option<Vec<String>>,
    /// What may happen without asking. An agent that can ask does so if absent.
    permission_mode: Option<PermissionMode>,
    /// Whether the agent keeps nothing of the conversation, where it can do so.
    #[serde(default)]
    ephemeral: bool,
    /// What a person decided about a `ralph.yml` that is not trusted, after the server has refused to use it.
    trust: Option<TrustChoice>,
}

/// A conversation of the agent's. That of an earlier run is continued with `POST /api/v1/runs/{id}/resume`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ResumedSession {
    /// The agent's name for it.
    #[schema(
        min_length = 1,
        max_length = 1024,
        pattern = "^[^-]",
        example = "0b0e8b9f-7b5e-4d0c-9d9f-1c6f2f7f2b11"
    )]
    session_id: String,
    /// Whether a copy is continued, which leaves the conversation as it is.
    #[serde(default)]
    fork: bool,
}

/// What a run may use.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Limits {
    /// How many iterations.
    #[serde(deserialize_with = "whole")]
    iterations: Option<u32>,
    /// What it may cost, in millionths of a dollar; 0 for no limit.
    #[serde(deserialize_with = "whole")]
    cost_micro_usd: Option<u64>,
    /// The same in dollars, as earlier versions had it.
    #[schema(ignore)]
    cost_usd: Option<f64>,
    /// How long it may take.
    #[serde(deserialize_with = "whole")]
    runtime_seconds: Option<u64>,
    /// How many turns.
    #[serde(deserialize_with = "whole")]
    turns: Option<u32>,
    /// How many tokens.
    #[serde(deserialize_with = "whole")]
    tokens: Option<u64>,
}

impl ResumedSession {
    fn into_start(self) -> SessionStart {
        let session = self.session_id;
        match self.fork {
            false => SessionStart::ResumeSession { session },
            true => SessionStart::ForkSession { session },
        }
    }
}

impl Limits {
    /// The cost limit, in whichever unit it was given.
    fn max_cost_micro_usd(&self) -> Result<Option<u64>, Problem> {
        let Some(dollars) = self.cost_usd else {
            return Ok(self.cost_micro_usd);
        };
        if self.cost_micro_usd.is_some() {
            let detail = "give `cost_micro_usd` alone: `cost_usd` is its old name";
            return Err(invalid("/limits/cost_usd", detail));
        }
        // Above this a float does not have the precision of a micro-dollar.
        const MAX_DOLLARS: f64 = 9_007_199_254.0;
        if !(0.0..=MAX_DOLLARS).contains(&dollars) {
            return Err(invalid("/limits/cost_usd", "`cost_usd` is negative or too large"));
        }
        // A tiny amount does not become 0, which means no limit.
        let micros = (dollars * 1e6).round().max(if dollars > 0.0 { 1.0 } else { 0.0 });
        Ok(format!("{micros:.0}").parse().ok())
    }
}

/// A whole number, also as `2.0`: to JSON that is the same.
pub(super) fn whole<'de, D: Deserializer<'de>, T: TryFrom<u64>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let Some(number) = Option::<serde_json::Number>::deserialize(deserializer)? else {
        return Ok(None);
    };
    // Beyond this a float does not say which whole number it means.
    const MOST: f64 = 9_007_199_254_740_992.0;
    let from_float = || {
        let float = number
            .as_f64()
            .filter(|float| float.fract() == 0.0 && (0.0..=MOST).contains(float))?;
        format!("{float:.0}").parse().ok()
    };
    let whole = number
        .as_u64()
        .or_else(from_float)
        .and_then(|whole| T::try_from(whole).ok());
    let wrong = || D::Error::custom("not a whole number, or out of range");
    whole.map(Some).ok_or_else(wrong)
}

/// How a run goes on with the conversation of another.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NextRun {
    /// Whether it works by itself or waits for messages; as the other one if absent.
    kind: Option<RunKind>,
    /// What the agent is told. A session may begin without.
    prompt: Option<String>,
    /// Which model; as the other one if absent.
    model: Option<String>,
    /// What replaces the agent's system prompt.
    #[schema(min_length = 1, max_length = 102400)]
    system_prompt: Option<String>,
    /// What is added to the agent's system prompt.
    #[schema(min_length = 1, max_length = 102400)]
    append_system_prompt: Option<String>,
    /// The tools that need no permission, such as `Read` or `Bash(git:*)`.
    #[schema(max_items = 1000)]
    allowed_tools: Option<Vec<String>>,
    /// Which login the agent uses; by the workspace's settings if absent.
    auth: Option<AuthChoice>,
    /// Whether the agent must take messages while it works (true), or is told its prompt and nothing else (false).
    accepts_input: Option<bool>,
    /// Whether one iteration is all.
    #[serde(default)]
    once: bool,
    /// The limits of the run.
    #[serde(default)]
    limits: Limits,
    /// What may happen without asking. An agent that can ask does so if absent.
    permission_mode: Option<PermissionMode>,
    /// What a person decided about a `ralph.yml` that is not trusted, after the server has refused to use it.
    trust: Option<TrustChoice>,
}

/// What a run that is to be started is called, if that is settled already.
#[derive(Debug, Clone)]
pub(super) struct RunName(pub(super) String);

/// Starts a run.
#[utoipa::path(post, path = "/api/v1/runs", operation_id = "runs_start", tag = "runs", request_body = NewRun,
    responses((status = 201, description = "The run has started.", body = schema::Run,
        headers(("location" = String, description = "The address of the run.")))))]
pub(super) async fn start(
    State(app): State<Arc<App>>,
    Extension(principal): Extension<Principal>,
    name: Option<Extension<RunName>>,
    JsonBody(asked): JsonBody<NewRun>,
) -> Result<Response, Problem> {
    let workspace = PathBuf::from(&asked.workspace);
    if !workspace.is_absolute() {
        return Err(invalid("/workspace", "`workspace` must be an absolute path"));
    }
    launch(
        &app,
        &principal,
        name,
        StartRun {
            kind: asked.kind.into(),
            workspace,
            backend: asked.backend,
            model: asked.model,
            prompt: asked.prompt,
            mode: asked.mode,
            task: asked.task,
            system_prompt: asked.system_prompt,
            append_system_prompt: asked.append_system_prompt,
            allowed_tools: asked.allowed_tools,
            auth: asked.auth,
            accepts_input: asked.accepts_input,
            once: asked.once,
            max_iterations: asked.limits.iterations,
            max_cost_micro_usd: asked.limits.max_cost_micro_usd()?,
            cost_ceiling_micro_usd: None,
            max_runtime_seconds: asked.limits.runtime_seconds,
            max_turns: asked.limits.turns,
            max_tokens: asked.limits.tokens,
            verify: asked.verify,
            permission_mode: asked.permission_mode.map(PermissionChoice::from),
            session: match asked.resume {
                None => SessionStart::New,
                Some(resumed) => resumed.into_start(),
            },
            ephemeral: asked.ephemeral,
            trust: asked.trust,
            by: None,
        },
    )
    .await
}

/// Goes on with the conversation of a run that has ended, in a new run.
#[utoipa::path(post, path = "/api/v1/runs/{id}/resume", operation_id = "runs_resume", tag = "runs",
    params(("id" = String, Path, description = "The run to go on with.")), request_body = Option<NextRun>,
    responses((status = 201, description = "The new run.", body = schema::Run,
        headers(("location" = String, description = "The address of the run.")))))]
pub(super) async fn resume(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
    Extension(principal): Extension<Principal>,
    name: Option<Extension<RunName>>,
    OptionalJsonBody(asked): OptionalJsonBody<NextRun>,
) -> Result<Response, Problem> {
    let run = app.run(&id).await?;
    if !run.activity.has_ended() {
        let detail = "the run has not ended: send it a message, or stop it first";
        return Err(Problem::new(ProblemCode::Busy, detail));
    }
    launch(
        &app,
        &principal,
        name,
        next(&run, asked, SessionStart::Resume { run: id })?,
    )
    .await
}

/// Goes on with a copy of the conversation of a run, in a new run.
#[utoipa::path(post, path = "/api/v1/runs/{id}/fork", operation_id = "runs_fork", tag = "runs",
    params(("id" = String, Path, description = "The run to copy from.")), request_body = Option<NextRun>,
    responses((status = 201, description = "The new run.", body = schema::Run,
        headers(("location" = String, description = "The address of the run.")))))]
pub(super) async fn fork(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
    Extension(principal): Extension<Principal>,
    name: Option<Extension<RunName>>,
    OptionalJsonBody(asked): OptionalJsonBody<NextRun>,
) -> Result<Response, Problem> {
    let run = app.run(&id).await?;
    launch(
        &app,
        &principal,
        name,
        next(&run, asked, SessionStart::Fork { run: id })?,
    )
    .await
}

fn next(run: &RunSummary, asked: NextRun, session: SessionStart) -> Result<StartRun, Problem> {
    if run.session_ids.is_empty() || run.is_ephemeral {
        let detail = "the agent kept no conversation of this run";
        return Err(Problem::new(ProblemCode::Unprocessable, detail));
    }
    Ok(StartRun {
        kind: asked
            .kind
            .map_or_else(|| run.kind.known().copied().unwrap_or_default(), Into::into),
        workspace: PathBuf::from(&run.workspace),
        backend: Some(run.backend.clone()),
        model: asked.model.or_else(|| run.model.clone()),
        prompt: asked.prompt,
        mode: run.mode.clone(),
        task: run.task.clone(),
        system_prompt: asked.system_prompt,
        append_system_prompt: asked.append_system_prompt,
        allowed_tools: asked.allowed_tools,
        auth: asked.auth,
        accepts_input: asked.accepts_input,
        once: asked.once,
        max_iterations: asked.limits.iterations,
        max_cost_micro_usd: asked.limits.max_cost_micro_usd()?,
        cost_ceiling_micro_usd: None,
        max_runtime_seconds: asked.limits.runtime_seconds,
        max_turns: asked.limits.turns,
        max_tokens: asked.limits.tokens,
        verify: None,
        permission_mode: asked.permission_mode.map(PermissionChoice::from),
        session,
        ephemeral: false,
        trust: asked.trust,
        by: None,
    })
}

async fn launch(
    app: &Arc<App>,
    principal: &Principal,
    name: Option<Extension<RunName>>,
    mut request: StartRun,
) -> Result<Response, Problem> {
    check(&request)?;
    app.take_start(principal)
        .map_err(|wait| rate_limited("too many runs are started at once", wait))?;
    let name = name.map(|Extension(RunName(id))| id);
    let permit = admit(app, principal, name.as_deref(), &mut request).await?;
    let (kept, app) = (Arc::clone(app), Arc::clone(app));
    // A run that is being started is not left half way if the client leaves.
    let started = tokio::spawn(async move {
        let name = name.as_deref().or(permit.run_id());
        match app.launcher.start(name, request).await {
            Ok(id) => {
                app.wait_for_run(&id).await;
                Ok(id)
            }
            Err(error) => {
                // A runner that has not reported in time may still do so.
                let is_absent = match permit.run_id() {
                    Some(run) => app.journals.presence(run).await.is_none(),
                    None => true,
                };
                if is_absent {
                    permit.failed();
                }
                Err(error)
            }
        }
    });
    match started.await {
        Ok(started) => created(&kept, &started?).await,
        Err(error) => Err(Problem::internal("starting a run failed", &error)),
    }
}

/// The answer to a start: the run, and where it is. It needs no index.
pub(super) async fn created(app: &App, id: &str) -> Result<Response, Problem> {
    let run = match app.run(id).await {
        Ok(run) => run,
        Err(problem) => read_summary(app, id).await.ok_or(problem)?,
    };
    let location = HeaderValue::from_str(&format!("/api/v1/runs/{id}"))
        .map_err(|error| Problem::internal("a run has an odd name", &error))?;
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(run)).into_response())
}

/// The run as its journal says: for one that the index does not have, or an index that is away.
async fn read_summary(app: &App, id: &str) -> Option<RunSummary> {
    // A run that was just started has a short journal.
    let query = PageQuery {
        after: None,
        before: None,
        kinds: Vec::new(),
        filter: None,
        limit: 1000,
        max_bytes: 4 << 20,
    };
    let page = app.journals.page(id, query).await.ok()?;
    let mut fold = RunFold::named(id).without_rows();
    for record in page.records {
        fold.push(&record.line);
    }
    fold.summary().cloned()
}

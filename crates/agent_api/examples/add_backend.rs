//! Adds an agent: a table of facts, a way to start it, and a mapping of its output. The rest is the harness's.
//!
//! The agent here is a shell script that writes one event per line, a word and its text. `cargo run -p agent_api
//! --example add_backend`

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use agent_api::{
    AgentKind, AgentRegistry, Backend, BackendConfig, Body, Emitter, Error as ApiError, ErrorClass,
    ErrorInfo, ExitTrust, InstalledAgent, ItemId, Json, Launch, LaunchInput, Mapper, Outcome, Piece,
    Position, Profile, RawRef, RunRequest, SessionStarted, TextBlock, ToolFinished, ToolKind, ToolStarted,
    ToolStatus, TurnFinished, TurnStarted, Unknown, capability,
};
use agent_process::SpawnSpec;
use json_lines::Framed;

/// Stands for an agent: reads its prompt and writes its events.
const SCRIPT: &str = r#"
prompt=$(cat)
echo "hello parrot-1"
echo "say I was asked: $prompt"
echo "tool date +%Y"
date +%Y | sed 's/^/output /'
echo "dream of electric crackers"
echo "say That is all."
echo "done"
"#;

fn main() -> ExitCode {
    agent_process::guard_main();
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // If that cannot be written either, the exit code still says it.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the run succeeded.
fn run() -> Result<bool, Box<dyn Error>> {
    let registry = AgentRegistry::new().with(Parrot::new())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut run = registry
            .run("parrot", RunRequest::new("Which year is it?"))
            .await?;
        while let Some(event) = run.events.next().await {
            // As JSON, one event per line: what a journal or another program would get.
            writeln!(io::stdout(), "{}", serde_json::to_string(&event)?)?;
        }
        Ok(run.completion.await?.is_success())
    })
}

struct Parrot {
    profile: Profile,
    config: BackendConfig,
}

impl Parrot {
    fn new() -> Self {
        // No `version_args`: not every shell knows its version.
        let mut profile = Profile::new(AgentKind::built_in("parrot"), "sh");
        profile.display_name = "Parrot";
        profile.install_hint = "install a POSIX shell";
        profile.capabilities = &[capability::TOOLS_STRUCTURED, capability::TOOLS_RESULTS];
        profile.inactivity_limit = Some(Duration::from_secs(60));
        // The script reports its own result; exit code 0 without one is a failure.
        profile.exit_trust = ExitTrust::NeedsResult;
        Self {
            profile,
            config: BackendConfig::default(),
        }
    }
}

impl Backend for Parrot {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn config(&self) -> &BackendConfig {
        &self.config
    }

    fn launch(&self, request: &RunRequest, found: &InstalledAgent) -> Result<Launch, ApiError> {
        let mut spec = SpawnSpec::new(&found.program);
        spec.args = vec!["-c".into(), SCRIPT.into()];
        spec.cwd.clone_from(&request.options.cwd);
        spec.env = request.options.environment.policy();
        // Not an argument: everybody on the machine could read it.
        let input = LaunchInput::Bytes(request.prompt.clone().into());
        Ok(Launch::new(spec, input, Box::new(ParrotMapper::default())))
    }
}

/// What has to be remembered from line to line.
#[derive(Default)]
struct ParrotMapper {
    items: u32,
    call: Option<ItemId>,
    last_text: Option<String>,
    is_done: bool,
}

impl Mapper for ParrotMapper {
    fn map_line(&mut self, line: Framed, events: &mut Emitter) {
        match line {
            Framed::Line(line) => {
                events.at(Some(RawRef {
                    line: line.number,
                    offset: line.offset,
                    length: line.bytes.len() as u64,
                }));
                let text = String::from_utf8_lossy(&line.bytes);
                let (word, rest) = text.split_once(' ').unwrap_or((&text, ""));
                self.map_word(word, rest, events);
            }
            // Over the limit: the raw log has it, the event says where.
            Framed::Overlong {
                number,
                offset,
                length_bytes,
            } => {
                events.at(None);
                let mut error = ErrorInfo::new(ErrorClass::Protocol, "overlong", "a line over the limit");
                error.position = Some(Position {
                    line: number,
                    column: 1,
                    offset,
                    length: length_bytes,
                });
                events.error(error);
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.is_done
    }
}

impl ParrotMapper {
    /// Every line becomes an event; one that is not known becomes `unknown`.
    fn map_word(&mut self, word: &str, rest: &str, events: &mut Emitter) {
        match word {
            "hello" => {
                events.emit(Body::SessionStarted(Box::new(SessionStarted {
                    model: Some(rest.to_owned()),
                    ..SessionStarted::default()
                })));
                events.emit(Body::TurnStarted(TurnStarted { number: 1 }));
            }
            "say" => {
                self.last_text = Some(rest.to_owned());
                events.emit(Body::TextBlock(TextBlock {
                    item: self.next_item(),
                    text: rest.to_owned(),
                    piece: Piece::WHOLE,
                    is_aborted: false,
                }));
            }
            "tool" => {
                let item = self.next_item();
                self.call = Some(item.clone());
                let mut started = ToolStarted::new(item, "shell", ToolKind::Execute);
                started.subject = Some(rest.to_owned());
                started.input = Json::of(&serde_json::json!({ "command": rest }));
                events.emit(Body::ToolStarted(Box::new(started)));
            }
            "output" if self.call.is_some() => {
                if let Some(item) = self.call.take() {
                    let mut finished = ToolFinished::new(item, ToolStatus::Completed);
                    rest.clone_into(&mut finished.output);
                    events.emit(Body::ToolFinished(Box::new(finished)));
                }
            }
            "done" => {
                self.is_done = true;
                let mut finished = TurnFinished::new(1, Outcome::Succeeded);
                finished.text = self.last_text.take();
                events.emit(Body::TurnFinished(Box::new(finished)));
            }
            other => events.emit(Body::Unknown(Unknown {
                type_name: other.to_owned(),
            })),
        }
    }

    fn next_item(&mut self) -> ItemId {
        self.items += 1;
        ItemId::new(&format!("item-{}", self.items))
    }
}

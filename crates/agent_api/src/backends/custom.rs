//! `Custom`: a backend for any command that takes a prompt and writes text.

use std::ffi::OsString;
use std::path::PathBuf;

use agent_process::{SpawnSpec, StdoutMode};

use bytes::Bytes;
use json_lines::{Framed, LineEnding};

use crate::backend::{Backend, BackendConfig, InstalledAgent, Launch, LaunchInput, Mapper, Profile};
use crate::bounds::{FINAL_TEXT_BYTES, TEXT_BYTES, keep_end};
use crate::capability;
use crate::emitter::Emitter;
use crate::error::Error;
use crate::event::{
    AgentKind, Body, ErrorClass, ErrorInfo, ItemId, Part, Piece, Position, RawRef, TextBlock,
};
use crate::request::RunRequest;

/// The longest prompt that fits into one argument on every system.
const MAX_ARGUMENT_BYTES: usize = 131_071;

/// Any command that takes a prompt and writes text. Its exit code says whether it succeeded.
#[derive(Debug)]
pub struct Custom {
    profile: Profile,
    config: BackendConfig,
    args: Vec<OsString>,
    prompt: PromptBy,
    #[cfg(feature = "claude_code")]
    speaks_claude: bool,
}

/// How a command gets its prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PromptBy {
    /// On its standard input.
    #[default]
    Stdin,
    /// As its last argument. All users of this machine can see it there.
    Argument {
        /// An option before it, for example `-p`.
        option: Option<OsString>,
    },
}

impl Custom {
    /// A command. It is never asked for its version.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self {
            profile: profile(),
            config: BackendConfig::program(program),
            args: args.into_iter().map(Into::into).collect(),
            prompt: PromptBy::Stdin,
            #[cfg(feature = "claude_code")]
            speaks_claude: false,
        }
    }

    /// Sets the name, so that several fit into one [`AgentRegistry`](crate::AgentRegistry); `custom` by default.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.profile.kind = AgentKind::new(name);
        self
    }

    /// The command writes Claude Code's format (`--output-format stream-json`) and must report a result. The format has
    /// room for tokens and costs; whether the command reports them is known only when it has run.
    #[cfg(feature = "claude_code")]
    #[must_use]
    pub fn stream_json(mut self) -> Self {
        self.speaks_claude = true;
        self.profile.capabilities = &[capability::EVENTS_LIVE, capability::USAGE, capability::COST];
        self.profile.exit_trust = crate::backend::ExitTrust::NeedsResult;
        self
    }

    fn mapper(&self) -> Box<dyn Mapper> {
        #[cfg(feature = "claude_code")]
        if self.speaks_claude {
            use super::claude_code::{ClaudeMapper, MapperSetup};
            return Box::new(ClaudeMapper::new(MapperSetup::default()));
        }
        Box::new(TextMapper::default())
    }

    /// Sets how it gets its prompt.
    #[must_use]
    pub fn prompt_by(mut self, prompt: PromptBy) -> Self {
        self.prompt = prompt;
        self
    }

    /// Sets what requests leave open.
    #[must_use]
    pub fn defaults(mut self, defaults: crate::request::RunOptions) -> Self {
        self.config.defaults = defaults;
        self
    }
}

fn profile() -> Profile {
    Profile {
        display_name: "Agent",
        install_hint: "check the command: the name or the path of a program, without arguments",
        capabilities: &[capability::EVENTS_LIVE],
        // `echo x > /dev/stdout` truncates a file, but not a pipe.
        transport: StdoutMode::Pipe,
        environment: &[],
        driven_by: "plain text",
        ..Profile::new(AgentKind::CUSTOM, "")
    }
}

impl Backend for Custom {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn config(&self) -> &BackendConfig {
        &self.config
    }

    fn replay_mapper(&self) -> Option<Box<dyn Mapper>> {
        Some(self.mapper())
    }

    fn launch(&self, request: &RunRequest, found: &InstalledAgent) -> Result<Launch, Error> {
        let options = &request.options;
        let mut spec = SpawnSpec::new(&found.program);
        spec.args.clone_from(&self.args);
        spec.args.extend(options.extra_args.iter().cloned());
        spec.cwd.clone_from(&options.cwd);
        spec.env = options.environment.policy();
        let input = match &self.prompt {
            PromptBy::Stdin => LaunchInput::Bytes(Bytes::from(request.prompt.clone())),
            PromptBy::Argument { option } => {
                if request.prompt.len() > MAX_ARGUMENT_BYTES {
                    return Err(Error::invalid(
                        "the prompt is too long for an argument (131,071 bytes): let the command read it from stdin",
                    ));
                }
                spec.args.extend(option.clone());
                spec.args.push(request.prompt.clone().into());
                LaunchInput::Nothing
            }
        };
        Ok(Launch {
            spec,
            input,
            mapper: self.mapper(),
            keep_alive: None,
            notes: Vec::new(),
        })
    }
}

/// Lines to text. A block is complete once it is [`TEXT_BYTES`] long, or at the end.
#[derive(Debug, Default)]
pub struct TextMapper {
    block: String,
    item: Option<ItemId>,
    count: u32,
    /// The last blocks so far: all of them, or more than a final text can hold.
    whole: String,
}

impl Mapper for TextMapper {
    fn map_line(&mut self, line: Framed, events: &mut Emitter) {
        match line {
            Framed::Line(line) => {
                events.at(Some(RawRef {
                    line: line.number,
                    offset: line.offset,
                    length: line.bytes.len() as u64,
                }));
                let mut text = String::from_utf8_lossy(&line.bytes).into_owned();
                if line.ending == LineEnding::Newline {
                    text.push('\n');
                }
                if self.block.len() + text.len() > TEXT_BYTES {
                    self.complete(events);
                }
                let item = self.item.get_or_insert_with(|| {
                    self.count += 1;
                    ItemId::new(&format!("output-{}", self.count))
                });
                events.append(item, Part::Text, text.as_str());
                self.block.push_str(&text);
            }
            Framed::Overlong {
                number,
                offset,
                length_bytes,
            } => {
                events.at(None);
                let mut error = ErrorInfo::new(
                    ErrorClass::Protocol,
                    "overlong",
                    "a line is longer than the limit; the raw log has it",
                );
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

    fn map_end(&mut self, events: &mut Emitter) {
        events.at(None);
        self.complete(events);
    }

    fn final_text(&mut self) -> Option<String> {
        let mut text = String::new();
        keep_end(&mut text, &self.whole, FINAL_TEXT_BYTES);
        Some(text).filter(|text| !text.is_empty())
    }
}

impl TextMapper {
    fn complete(&mut self, events: &mut Emitter) {
        if let Some(item) = self.item.take() {
            // Only now and then, so that the rest is not moved for every block.
            if self.whole.len() > 2 * FINAL_TEXT_BYTES {
                let start = self
                    .whole
                    .floor_char_boundary(self.whole.len() - FINAL_TEXT_BYTES - 1);
                self.whole.drain(..start);
            }
            self.whole.push_str(&self.block);
            events.emit(Body::TextBlock(TextBlock {
                item,
                text: std::mem::take(&mut self.block),
                piece: Piece::WHOLE,
                is_aborted: false,
            }));
        }
    }
}

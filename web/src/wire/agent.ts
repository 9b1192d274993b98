// Made from the Rust code, and held against it by a test of ralph_server: see CONTRIBUTING.md. Do not edit.

/** Something that happened in a run.
 * As JSON it is flat: `{"agent_kind":"claude_code","raw":{…},"type":"delta","data":{…}}`. */
export type AgentEvent = {
  /** Which kind of agent. */
  agent_kind: AgentKind;
  /** The call of the subagent that this belongs to; none in the main conversation. */
  parent?: ItemId;
  /** Where the agent's own words for it are; none for what we found out by ourselves. */
  raw?: RawRef;
} & (
    | { type: 'session_started'; data: SessionStarted }
    | { type: 'session_updated'; data: SessionUpdated }
    | { type: 'turn_started'; data: TurnStarted }
    | { type: 'turn_finished'; data: TurnFinished }
    | { type: 'delta'; data: Delta }
    | { type: 'text_block'; data: TextBlock }
    | { type: 'thinking_block'; data: ThinkingBlock }
    | { type: 'user_message'; data: UserMessage }
    | { type: 'tool_started'; data: ToolStarted }
    | { type: 'tool_progressed'; data: ToolProgressed }
    | { type: 'tool_finished'; data: ToolFinished }
    | { type: 'item_discarded'; data: ItemDiscarded }
    | { type: 'plan_updated'; data: PlanUpdated }
    | { type: 'permission_requested'; data: PermissionRequested }
    | { type: 'question_asked'; data: QuestionAsked }
    | { type: 'plan_proposed'; data: PlanProposed }
    | { type: 'request_closed'; data: RequestClosed }
    | { type: 'permission_denied'; data: Denial }
    | { type: 'task_updated'; data: Task }
    | { type: 'message_updated'; data: MessageUpdated }
    | { type: 'command_answered'; data: CommandAnswered }
    | { type: 'usage'; data: Usage }
    | { type: 'status_changed'; data: StatusChanged }
    | { type: 'retry_scheduled'; data: Retry }
    | { type: 'rate_limit'; data: RateLimit }
    | { type: 'notice'; data: Notice }
    | { type: 'error'; data: ErrorInfo }
    | { type: 'unknown'; data: Unknown }
    | { type: 'finished'; data: Finished });

/** Names a kind of agent, for example `claude_code`. Cheap to clone and to compare. */
export type AgentKind = string;

/** What happened to a file. */
export type ChangeKind = 'added' | 'modified' | 'deleted' | 'moved';

/** Why nobody waits any more. */
export type CloseReason = 'answered' | 'denied' | 'withdrawn' | 'ended';

/** The agent answered a command, such as a change of the model. */
export type CommandAnswered = {
  /** The command, as `RunControl` named it. */
  command_id: string;
  /** Why it refused, if it did. */
  error?: string;
};

/** How full the model's context is. */
export type ContextUse = {
  /** Tokens in it. */
  used: number;
  /** How many fit, where known. */
  size?: number;
};

/** An amount of money and who says so. */
export type Cost = {
  /** In millionths of a dollar. */
  micro_usd: number;
  /** Who says so. */
  source: CostSource;
};

/** Who says what something cost. */
export type CostSource = 'reported' | 'estimated';

/** A piece of an item that is being written. The item's block replaces all of them, so a consumer may ignore deltas.
 * A delta for an item that is not known yet creates it; one for an item that is complete never comes. */
export type Delta = {
  /** The item. */
  item: ItemId;
  /** Which part of it. */
  part: Part;
  /** What the text does. */
  mode?: DeltaMode;
  /** The text, at most `bounds::TEXT_BYTES` long. */
  text: string;
};

/** What a delta does. */
export type DeltaMode = 'append' | 'snapshot';

/** A tool call that was not allowed. */
export type Denial = {
  /** The call. */
  item?: ItemId;
  /** The tool. */
  tool: string;
  /** Why. */
  reason?: string;
};

/** Why an item no longer counts. */
export type DiscardReason = 'retry' | 'superseded';

/** What kind of trouble. */
export type ErrorClass =
  | 'auth'
  | 'quota'
  | 'rate_limit'
  | 'overloaded'
  | 'invalid_request'
  | 'context_window'
  | 'model_not_found'
  | 'network'
  | 'sandbox'
  | 'permission'
  | 'trust'
  | 'config'
  | 'tool'
  | 'protocol'
  | 'process'
  | 'vendor'
  | 'unknown';

/** Something went wrong. As an event it never ends the run. */
export type ErrorInfo = {
  /** What kind of trouble. */
  class: ErrorClass;
  /** A word for programs, for example `not_json` or `rate_limit`. */
  code: string;
  /** For people, at most `bounds::MESSAGE_BYTES` long. Never a line of the agent's
   * output that could not be read. */
  message: string;
  /** The status of the API's answer. */
  http_status?: number;
  /** Whether the same may work later. */
  is_retryable?: boolean;
  /** Where in the agent's output, if that is what is wrong. */
  position?: Position;
};

/** How a process ended. */
export type ExitInfo = {
  /** Its exit code. */
  code?: number;
  /** The signal that ended it. */
  signal?: number;
  /** Whether we had to stop it. */
  was_stopped?: boolean;
  /** How many of its descendants were still alive and had to be killed. */
  survivors_killed?: number;
};

/** A file that a call changed. */
export type FileChange = {
  /** The file. */
  path: string;
  /** What happened to it. */
  kind: ChangeKind;
  /** The hunks of a unified diff, where the agent gives them and they are not too long. */
  diff?: string;
  /** Lines added and removed, where known. */
  lines?: [number, number];
};

/** The run is over: the process and everything it started are gone, and no event follows. */
export type Finished = {
  /** How it ended. What we caused comes first, then what the agent said, then its exit status. */
  outcome: Outcome;
  /** Whether the agent did not say how it ended, so that the outcome is our conclusion. */
  is_synthetic: boolean;
  /** What went wrong. */
  error?: ErrorInfo;
  /** How the process ended. */
  exit: ExitInfo;
  /** What the run used. */
  usage: RunUsage;
  /** Turns that ended. */
  turns: number;
  /** Lines of the output that could not be read; each was an error event. */
  line_errors: number;
  /** From the start to the exit of the process. */
  duration_ms: number;
};

/** Forget the item: what it said is not part of the conversation. */
export type ItemDiscarded = {
  /** The item. */
  item: ItemId;
  /** Why. */
  reason: DiscardReason;
};

/** Names an item of a run: a block of text or thinking, a tool call. The same id always means the same item, and
 * an event about a known item replaces what was known. Cheap to clone. */
export type ItemId = string;

/** A JSON value, kept as text. At most `bounds::JSON_BYTES` long: a longer one is
 * replaced by `Json::oversize`, and the event's `RawRef` says where the whole is. */
export type Json = unknown;

/** Which limit of the agent's own. */
export type Limit = 'turns' | 'budget' | 'tokens';

/** How far a message is. */
export type MessageState = 'queued' | 'started' | 'completed' | 'cancelled';

/** What became of a message that was sent: its receipt. */
export type MessageUpdated = {
  /** The message, as `RunControl::send` named it. */
  message_id: string;
  /** How far it is. */
  state: MessageState;
};

/** Something that a person may want to know and that has no event of its own. */
export type Notice = {
  /** How important. */
  severity: Severity;
  /** A word for programs, for example `compacted`, `hook`, `stderr`, `noise`. */
  code: string;
  /** For people, at most `bounds::MESSAGE_BYTES` long. */
  message: string;
  /** Further facts. */
  data?: Json;
};

/** Who said something to the model. */
export type Origin = 'user' | 'agent';

/** How a turn or a run ended. */
export type Outcome =
  | 'succeeded'
  | 'failed'
  | { limit_reached: Limit }
  | 'refused'
  | 'interrupted'
  | 'cancelled'
  | 'timed_out'
  | 'stalled'
  | 'crashed'
  | 'no_result'
  | 'lost';

/** Which part of an item. */
export type Part = 'text' | 'thinking' | 'tool_input' | 'tool_output';

/** May this tool run? The agent waits for `RunControl::answer`. */
export type PermissionRequested = {
  /** What the answer must name. */
  request: RequestId;
  /** The call. */
  item?: ItemId;
  /** The tool. */
  tool: string;
  /** What kind of tool. */
  kind: ToolKind;
  /** What it would be used on, in one line. */
  subject?: string;
  /** Why it asks, or what the call is for. */
  description?: string;
  /** The arguments; the answer may change them. */
  input?: Json;
  /** Rules that would make further questions unnecessary, in the vendor's shape: to be given back with the answer. */
  suggestions?: Json;
};

/** Which piece of a block this is. Blocks are split at `bounds::TEXT_BYTES`. */
export type Piece = {
  /** Piece 0 replaces all that is known of the item, the others add to it. */
  index: number;
  /** Whether the block is complete with this piece. */
  is_last: boolean;
};

/** One thing to do. */
export type PlanEntry = {
  /** What. */
  text: string;
  /** How far it is. */
  status: PlanStatus;
};

/** The agent has a plan and waits for approval. Never answered by a rule. */
export type PlanProposed = {
  /** What the answer must name. */
  request: RequestId;
  /** The call. */
  item?: ItemId;
  /** The plan, in Markdown. */
  plan: string;
};

/** How far a thing is. */
export type PlanStatus = 'pending' | 'in_progress' | 'completed' | 'cancelled';

/** The agent's list of things to do, complete: it replaces the one before. */
export type PlanUpdated = {
  /** The call that changed it. */
  item?: ItemId;
  /** The entries in order, at most `bounds::LIST_ENTRIES`. */
  entries: Array<PlanEntry>;
};

/** A place in the agent's output. */
export type Position = {
  /** The line, from 1. */
  line: number;
  /** The byte in the line, from 1. */
  column: number;
  /** Where the line starts in the output. */
  offset: number;
  /** How long the line is. */
  length: number;
};

/** One question. */
export type Question = {
  /** The question itself: what the answer is keyed by. */
  text: string;
  /** In a word. */
  header?: string;
  /** What can be chosen; any other text is an answer too. */
  options?: Array<QuestionOption>;
  /** Whether several can be chosen. */
  is_multiple?: boolean;
};

/** The agent asks a person. Never answered by a rule. */
export type QuestionAsked = {
  /** What the answer must name. */
  request: RequestId;
  /** The call. */
  item?: ItemId;
  /** The questions, at most `bounds::LIST_ENTRIES`. */
  questions: Array<Question>;
};

/** One answer to choose. */
export type QuestionOption = {
  /** The answer. */
  label: string;
  /** What it means. */
  description?: string;
};

/** Where a subscription stands. */
export type RateLimit = {
  /** Whether requests still pass. */
  status: RateLimitStatus;
  /** Which limit, in the vendor's words. */
  window?: string;
  /** How much of it is used, in percent. */
  used_percent?: number;
  /** When it starts over, in seconds since 1970. */
  resets_at?: number;
};

/** Whether requests still pass. */
export type RateLimitStatus = 'allowed' | 'warning' | 'rejected' | 'unknown';

/** A place in the raw log of the agent's output. Events never carry the agent's lines themselves. */
export type RawRef = {
  /** Counts the lines from 1. */
  line: number;
  /** Where the line, or the JSON object in it, starts in the file. */
  offset: number;
  /** How many bytes it has. */
  length: number;
};

/** Nobody waits for an answer any more. */
export type RequestClosed = {
  /** The request. */
  request: RequestId;
  /** Why. */
  reason: CloseReason;
};

/** Names a request of the agent that somebody has to answer. */
export type RequestId = string;

/** A call of the model failed and will be repeated by the agent itself. */
export type Retry = {
  /** Counts from 1. */
  attempt?: number;
  /** After this many it gives up. */
  max_attempts?: number;
  /** How long it waits, in milliseconds. */
  delay_ms?: number;
  /** What went wrong. */
  error: ErrorInfo;
};

/** The total of a run. */
export type RunUsage = {
  /** Tokens, subagents included where the agent counts them. */
  tokens: Tokens;
  /** What it cost; none where the agent does not say. */
  cost?: Cost;
  /** Whether something is still missing: a turn is open, or its figures never came. Then it is an estimate from the
   * messages so far, a low one as a rule; it can be high by answers that broke and that the agent does not count. */
  is_partial?: boolean;
  /** Whether `cost` may include earlier runs of a resumed session, because nothing tells them apart. */
  may_include_earlier_runs?: boolean;
};

/** The agent is there. Sent once per process, as soon as it says so. */
export type SessionStarted = {
  /** The vendor's conversation, which can be resumed. Omitted where it is over
   * `bounds::SESSION_ID_BYTES` long. */
  session_id?: string;
  /** The model. */
  model?: string;
  /** Where the agent works, as it says itself. */
  cwd?: string;
  /** The agent's own version. */
  agent_version?: string;
  /** What happens without asking, in the vendor's words. */
  permission_mode?: string;
  /** Tools the model can call, at most `bounds::LIST_ENTRIES`. */
  tools?: Array<string>;
  /** MCP servers and how they are, as `name: status`; bounded likewise. */
  mcp_servers?: Array<string>;
};

/** Something about the conversation has changed; what is absent has not. */
export type SessionUpdated = {
  /** It goes on under another id. */
  session_id?: string;
  /** Another model. */
  model?: string;
  /** What happens without asking. */
  permission_mode?: string;
  /** Its title. */
  title?: string;
};

/** How important. */
export type Severity = 'debug' | 'info' | 'warning' | 'error';

/** What the agent is doing. */
export type Status = 'requesting' | 'thinking' | 'compacting' | 'running' | 'idle' | 'waiting';

/** What the agent is doing right now, in its own words. */
export type StatusChanged = {
  /** What. */
  status: Status;
};

/** A subagent or a command in the background. */
export type Task = {
  /** Names the task. */
  task_id: string;
  /** The call that started it. */
  item?: ItemId;
  /** What it is for, or what it is doing. */
  title?: string;
  /** How far it is. */
  state: TaskState;
  /** What came out. */
  summary?: string;
};

/** How far a task is. */
export type TaskState = 'running' | 'completed' | 'failed' | 'stopped';

/** Text for a person, complete. */
export type TextBlock = {
  /** The item. */
  item: ItemId;
  /** The text, or a piece of it. */
  text: string;
  /** Which piece. */
  piece?: Piece;
  /** Whether an interrupt cut it off. */
  is_aborted?: boolean;
};

/** The model's thinking, complete. */
export type ThinkingBlock = {
  /** The item. */
  item: ItemId;
  /** The text, or a piece of it; empty where the vendor shows none. */
  text: string;
  /** Which piece. */
  piece?: Piece;
  /** Whether the vendor keeps it secret. */
  is_redacted?: boolean;
};

/** Tokens by what they cost. `reasoning` is part of `output`, the others do not overlap. */
export type Tokens = {
  /** Read by the model, neither from nor into the cache. */
  input: number;
  /** Read from the cache. */
  cache_read: number;
  /** Read by the model and written to the cache. */
  cache_write: number;
  /** Written by the model, thinking included. */
  output: number;
  /** The part of `output` that was thinking, where the vendor says. */
  reasoning: number;
};

/** A tool call has ended. */
export type ToolFinished = {
  /** The call. */
  item: ItemId;
  /** How it ended. */
  status: ToolStatus;
  /** What it gave, for people. Longer than `bounds::TEXT_BYTES` it keeps its beginning
   * and its end, with a line between them that says how much is missing. */
  output: string;
  /** How long `output` was before it was cut, if it was. */
  output_bytes?: number;
  /** Pictures and other things that are no text, in words: `image/png, 1234 bytes`. */
  attachments?: Array<string>;
  /** The exit code of a command, only where the vendor's data has one. */
  exit_code?: number;
  /** Files that the call changed, at most `bounds::LIST_ENTRIES`. */
  changes?: Array<FileChange>;
};

/** What kind of tool. */
export type ToolKind =
  | 'execute'
  | 'read'
  | 'edit'
  | 'delete'
  | 'move'
  | 'search'
  | 'fetch'
  | 'web_search'
  | 'plan'
  | 'mcp'
  | 'agent'
  | 'question'
  | 'switch_mode'
  | 'other';

/** A tool is still running. */
export type ToolProgressed = {
  /** The call. */
  item: ItemId;
  /** For how long, in milliseconds. */
  elapsed_ms?: number;
};

/** A tool is called. Sent again with the same item when more is known about the call. */
export type ToolStarted = {
  /** The call. */
  item: ItemId;
  /** The tool, as the agent calls it. */
  name: string;
  /** What kind of tool. */
  kind: ToolKind;
  /** What it is used on, in one line: a path, a command, a pattern, an address. There even when `input` had to be
   * dropped. */
  subject?: string;
  /** The arguments as the agent gave them; none while they are being written. `ToolStarted::typed_input` reads
   * those of well-known tools. */
  input?: Json;
  /** The MCP server that has the tool. */
  mcp_server?: string;
  /** How far the call is. */
  state: ToolState;
};

/** How far a call is. */
export type ToolState = 'preparing' | 'running';

/** How a call ended. */
export type ToolStatus = 'completed' | 'failed' | 'denied' | 'cancelled' | 'background';

/** A turn has ended. Not the end of the run: background work can wake a further turn, and the last one counts. */
export type TurnFinished = {
  /** Counts the turns of the process from 1. */
  number: number;
  /** How it ended. */
  outcome: Outcome;
  /** The answer in short: the last text of the turn, which came as a block before. The beginning, if it is longer
   * than `bounds::TEXT_BYTES`. */
  text?: string;
  /** What went wrong. */
  error?: ErrorInfo;
  /** Why it stopped, in the vendor's words. */
  stop_reason?: string;
  /** Wall time in milliseconds. */
  duration_ms?: number;
  /** Time in the API in milliseconds. */
  api_duration_ms?: number;
  /** Steps of the model, as the vendor counts them: for display. */
  steps?: number;
  /** What was not allowed, at most `bounds::LIST_ENTRIES`. */
  denials?: Array<Denial>;
  /** The answer in a requested schema. */
  structured_output?: Json;
};

/** The model begins to work on a prompt. */
export type TurnStarted = {
  /** Counts the turns of the process from 1. */
  number: number;
};

/** Something that this version does not know. */
export type Unknown = {
  /** What the agent, or a newer version of this crate, calls it. */
  type_name: string;
};

/** What was used. Vendors count in different ways; here all are converted to one split, and `run` is the run's own
 * total, whatever the vendor's figure covers. */
export type Usage = {
  /** What `tokens` and `cost` cover. */
  scope: UsageScope;
  /** As reported, in the canonical split. */
  tokens: Tokens;
  /** As reported. */
  cost?: Cost;
  /** The model, where the figures are of one. */
  model?: string;
  /** How full the model's context is. */
  context?: ContextUse;
  /** The run's total so far. Replaces earlier totals; never to be added up. */
  run: RunUsage;
};

/** What a report covers. */
export type UsageScope = 'step' | 'turn' | 'run' | 'session';

/** Something was said to the model. */
export type UserMessage = {
  /** The item. */
  item: ItemId;
  /** The text, or a piece of it. */
  text: string;
  /** Which piece. */
  piece?: Piece;
  /** Who said it. */
  origin: Origin;
};

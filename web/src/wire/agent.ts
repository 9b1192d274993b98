// Made from the Rust code, and held against it by a test of ralph_server: see CONTRIBUTING.md. Do not edit.

/** Something that happened in a run.
 * As JSON it is flat: `{"agent_kind":"claude_code","raw":{…},"type":"delta","data":{…}}`. */
export type AgentEvent = {
  /** The backend it comes from. */
  agent_kind: AgentKind;
  /** The call that started the subagent of this event; `None` in the main conversation. */
  parent?: ItemId;
  /** The agent's line in the raw log; `None` for events that do not come from its output. */
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

/** The name of a backend, for example `claude_code`. Cheap to clone. */
export type AgentKind = string;

/** What happened to a file. */
export type ChangeKind = 'added' | 'modified' | 'deleted' | 'moved';

/** Why a request was closed. */
export type CloseReason = 'answered' | 'denied' | 'withdrawn' | 'ended';

/** The agent answered a command, such as changing the model. */
export type CommandAnswered = {
  /** The command's id, as `RunControl` returned it. */
  command_id: string;
  /** Why the agent refused; `None` if it did not. */
  error?: string;
};

/** How full the model's context is. */
export type ContextUse = {
  /** Tokens in the context. */
  used: number;
  /** How many tokens fit, if known. */
  size?: number;
};

/** A cost and its source. */
export type Cost = {
  /** In millionths of a dollar. */
  micro_usd: number;
  /** Where the amount comes from. */
  source: CostSource;
};

/** Where a cost comes from. */
export type CostSource = 'reported' | 'estimated';

/** More of an item that is being written. The item's block replaces all of its deltas, so a consumer may ignore them.
 * A delta for an unknown item creates it. There is never a delta for a complete item. */
export type Delta = {
  /** The item that is being written. */
  item: ItemId;
  /** The part of the item that the text belongs to. */
  part: Part;
  /** Whether the text is added or replaces earlier text. */
  mode?: DeltaMode;
  /** The text, at most `bounds::TEXT_BYTES` long. */
  text: string;
};

/** What a delta does with its text. */
export type DeltaMode = 'append' | 'snapshot';

/** A tool call that was not allowed. */
export type Denial = {
  /** The call. */
  item?: ItemId;
  /** The tool's name. */
  tool: string;
  /** Why it was not allowed. */
  reason?: string;
};

/** Why an item was discarded. */
export type DiscardReason = 'retry' | 'superseded';

/** The kind of an error. */
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

/** An error. As an event it never ends the run. */
export type ErrorInfo = {
  /** The kind of error. */
  class: ErrorClass;
  /** A code for programs, for example `not_json` or `rate_limit`. */
  code: string;
  /** A message for people, at most `bounds::MESSAGE_BYTES` long. Never a line of the agent's
   * output that could not be read. */
  message: string;
  /** The HTTP status of the API's response. */
  http_status?: number;
  /** Whether the same request may work later. */
  is_retryable?: boolean;
  /** When the same request may work again, in seconds since 1970, where the vendor says so. */
  resets_at?: number;
  /** How long to wait before the same request, where the vendor says so. */
  retry_after_seconds?: number;
  /** The line of the agent's output that could not be read. */
  position?: Position;
};

/** How a process ended. */
export type ExitInfo = {
  /** Its exit code. */
  code?: number;
  /** The signal that ended it. */
  signal?: number;
  /** Whether it was stopped by us. */
  was_stopped?: boolean;
  /** How many of its descendants were alive after its exit and had to be killed. */
  survivors_killed?: number;
};

/** A file that a tool call changed. */
export type FileChange = {
  /** The file's path. */
  path: string;
  /** What happened to it. */
  kind: ChangeKind;
  /** The hunks of a unified diff, if the agent reports them and they are not too long. */
  diff?: string;
  /** Lines added and removed, where known. */
  lines?: [number, number];
};

/** The run ended: the process and everything it started are gone, and no event follows. */
export type Finished = {
  /** How it ended. A stop that we caused takes precedence, then the agent's report, then the exit status. */
  outcome: Outcome;
  /** Whether the agent did not report an outcome, so that it was concluded from other facts. */
  is_synthetic: boolean;
  /** What went wrong. */
  error?: ErrorInfo;
  /** How the process ended. */
  exit: ExitInfo;
  /** Tokens and cost of the run. */
  usage: RunUsage;
  /** The number of turns that ended. */
  turns: number;
  /** The number of lines that could not be read. Each was reported as an error event. */
  line_errors: number;
  /** From the start to the exit of the process, in milliseconds. */
  duration_ms: number;
};

/** One lasting permission that a request offers. Nothing is granted unless an answer names it. */
export type Grant = {
  /** What the answer names. It depends on all that would be granted: another grant has another id. */
  id: GrantId;
  /** What is granted. */
  kind: GrantKind;
  /** How long it lasts, and where it is kept. */
  destination: GrantDestination;
  /** All of it in one line, in the agent's untrusted words: `Allow Bash(git status *) for this session`. */
  text: string;
};

/** How long a grant lasts, and where it is kept. */
export type GrantDestination = 'session' | 'workspace' | 'project' | 'user' | 'unknown';

/** Names a lasting permission that a request offers. */
export type GrantId = string;

/** What is granted, the narrowest first. */
export type GrantKind = 'rule' | 'option' | 'directory' | 'mode' | 'unknown';

/** The item is no longer part of the conversation. A view should remove it. */
export type ItemDiscarded = {
  /** The item. */
  item: ItemId;
  /** Why it was discarded. */
  reason: DiscardReason;
};

/** Names an item of a run: a block of text or thinking, or a tool call. An event about a known item replaces what
 * was known about it. Cheap to clone. */
export type ItemId = string;

/** A JSON value, kept as text. At most `bounds::JSON_BYTES` long: a longer one is
 * replaced by `Json::oversize`, and the event's `RawRef` says where the whole is. */
export type Json = unknown;

/** A limit that the agent enforces itself. */
export type Limit = 'turns' | 'budget' | 'tokens';

/** The progress of a message. */
export type MessageState = 'queued' | 'started' | 'completed' | 'cancelled';

/** The progress of a message that was sent. */
export type MessageUpdated = {
  /** The message's id, as `RunControl::send` returned it. */
  message_id: string;
  /** Its progress. */
  state: MessageState;
};

/** Something that the user may want to know and that has no event of its own. */
export type Notice = {
  /** Its importance. */
  severity: Severity;
  /** A code for programs, for example `compacted`, `hook`, `stderr`, `noise`. */
  code: string;
  /** A message for people, at most `bounds::MESSAGE_BYTES` long. */
  message: string;
  /** More details, as data. */
  data?: Json;
};

/** Who wrote a message to the model. */
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

/** A part of an item. */
export type Part = 'text' | 'thinking' | 'tool_input' | 'tool_output';

/** The agent asks whether a tool may run, and waits for `RunControl::answer`. */
export type PermissionRequested = {
  /** The id to pass to the answer. */
  request: RequestId;
  /** The tool call. */
  item?: ItemId;
  /** The tool's name. */
  tool: string;
  /** What the tool does. */
  kind: ToolKind;
  /** What it would be used on, in one line. */
  subject?: string;
  /** Why the agent asks, or what the call is for. */
  description?: string;
  /** The arguments. The answer may change them. */
  input?: Json;
  /** Lasting permissions that make further requests unnecessary, the narrowest first. The answer names those that it
   * gives; the others are not given. */
  grants?: Array<Grant>;
  /** Whether an answer can give at most one of them. */
  takes_one_grant?: boolean;
};

/** Which piece of a block an event has. Blocks are split at `bounds::TEXT_BYTES`. */
export type Piece = {
  /** Piece 0 replaces everything known of the item, the others add to it. */
  index: number;
  /** Whether the block is complete with this piece. */
  is_last: boolean;
};

/** One entry of a to-do list. */
export type PlanEntry = {
  /** What is to be done. */
  text: string;
  /** Its progress. */
  status: PlanStatus;
};

/** The agent proposes a plan and waits for approval. Never answered by a rule. */
export type PlanProposed = {
  /** The id to pass to the answer. */
  request: RequestId;
  /** The tool call. */
  item?: ItemId;
  /** The plan, in Markdown. */
  plan: string;
};

/** The progress of a to-do entry. */
export type PlanStatus = 'pending' | 'in_progress' | 'completed' | 'cancelled';

/** The agent's complete to-do list. It replaces the previous one. */
export type PlanUpdated = {
  /** The call that changed it. */
  item?: ItemId;
  /** The entries in order, at most `bounds::LIST_ENTRIES`. */
  entries: Array<PlanEntry>;
};

/** A position in the agent's output. */
export type Position = {
  /** The line, from 1. */
  line: number;
  /** The byte in the line, from 1. */
  column: number;
  /** Where the line starts: a byte offset in the output. */
  offset: number;
  /** The line's length in bytes. */
  length: number;
};

/** One question. */
export type Question = {
  /** The question itself. The answers are keyed by it. */
  text: string;
  /** A short title. */
  header?: string;
  /** Answers to choose from. Any other text is an answer too. */
  options?: Array<QuestionOption>;
  /** Whether several options can be chosen. */
  is_multiple?: boolean;
};

/** The agent asks the user. Never answered by a rule. */
export type QuestionAsked = {
  /** The id to pass to the answer. */
  request: RequestId;
  /** The tool call. */
  item?: ItemId;
  /** The questions, at most `bounds::LIST_ENTRIES`. */
  questions: Array<Question>;
};

/** One answer to choose from. */
export type QuestionOption = {
  /** The answer. */
  label: string;
  /** What it means. */
  description?: string;
};

/** The state of a subscription's limit. */
export type RateLimit = {
  /** Whether requests still pass. */
  status: RateLimitStatus;
  /** Which limit, as the vendor names it. */
  window?: string;
  /** The used part in percent. */
  used_percent?: number;
  /** When it resets, in seconds since 1970. */
  resets_at?: number;
};

/** Whether requests still pass. */
export type RateLimitStatus = 'allowed' | 'warning' | 'rejected' | 'unknown';

/** A position in the raw log of the agent's output. */
export type RawRef = {
  /** The number of the line, from 1. */
  line: number;
  /** Where the line, or the JSON object in it, starts: a byte offset in the file. */
  offset: number;
  /** Its length in bytes. */
  length: number;
};

/** A request no longer waits for an answer. */
export type RequestClosed = {
  /** The request. */
  request: RequestId;
  /** Why it was closed. */
  reason: CloseReason;
};

/** Names a request of the agent that waits for an answer. It may be a digest of the agent's own id, so a backend
 * keeps that id for the answer. */
export type RequestId = string;

/** A request to the model failed, and the agent will repeat it by itself. */
export type Retry = {
  /** The number of the retry, from 1. */
  attempt?: number;
  /** The agent gives up after this many. */
  max_attempts?: number;
  /** The wait before the retry in milliseconds. */
  delay_ms?: number;
  /** What went wrong. */
  error: ErrorInfo;
};

/** Tokens and cost of a whole run. */
export type RunUsage = {
  /** Tokens, including subagents if the agent counts them. */
  tokens: Tokens;
  /** The cost; `None` if the agent does not report it. */
  cost?: Cost;
  /** Whether figures are missing, because a turn is open or ended without them. Then the total is estimated from the
   * messages so far. The estimate is usually low; broken answers that the agent does not count can make it high. */
  is_partial?: boolean;
  /** Whether `cost` may include earlier runs of a resumed session, which the agent does not separate. */
  may_include_earlier_runs?: boolean;
};

/** The agent's session started. Sent once per process. */
export type SessionStarted = {
  /** The vendor's id, by which the session can be resumed. Omitted if it is longer than
   * `bounds::SESSION_ID_BYTES`. */
  session_id?: string;
  /** The model. */
  model?: string;
  /** The agent's working directory, as it reports itself. */
  cwd?: string;
  /** The agent's own version. */
  agent_version?: string;
  /** The permission mode, as the vendor names it. */
  permission_mode?: string;
  /** Tools that the model can call, at most `bounds::LIST_ENTRIES`. */
  tools?: Array<string>;
  /** MCP servers and their state, as `name: status`; bounded likewise. */
  mcp_servers?: Array<string>;
};

/** The session changed. Fields that are `None` did not. */
export type SessionUpdated = {
  /** The new id. */
  session_id?: string;
  /** The new model. */
  model?: string;
  /** The new permission mode. */
  permission_mode?: string;
  /** The new title. */
  title?: string;
};

/** The importance of a notice. */
export type Severity = 'debug' | 'info' | 'warning' | 'error';

/** What the agent is doing. */
export type Status = 'requesting' | 'thinking' | 'compacting' | 'running' | 'idle' | 'waiting';

/** What the agent is doing now, as it reports itself. */
export type StatusChanged = {
  /** The new status. */
  status: Status;
};

/** A subagent or background command. */
export type Task = {
  /** Identifies the task. */
  task_id: string;
  /** The call that started it. */
  item?: ItemId;
  /** What it is for, or what it is doing. */
  title?: string;
  /** Its progress. */
  state: TaskState;
  /** Its result in short. */
  summary?: string;
};

/** The progress of a task. */
export type TaskState = 'running' | 'completed' | 'failed' | 'stopped';

/** A complete block of the model's text. */
export type TextBlock = {
  /** Identifies the block. */
  item: ItemId;
  /** The text, or a piece of it. */
  text: string;
  /** Which piece of the block this is. */
  piece?: Piece;
  /** Whether an interrupt cut the text off. */
  is_aborted?: boolean;
};

/** A complete block of the model's thinking. */
export type ThinkingBlock = {
  /** Identifies the block. */
  item: ItemId;
  /** The text, or a piece of it; empty if the vendor does not show it. */
  text: string;
  /** Which piece of the block this is. */
  piece?: Piece;
  /** Whether the vendor withholds the text. */
  is_redacted?: boolean;
};

/** Token counts by price class. `reasoning` is part of `output`; the other four do not overlap. */
export type Tokens = {
  /** Input tokens that were neither read from nor written to the cache. */
  input: number;
  /** Input tokens read from the cache. */
  cache_read: number;
  /** Input tokens written to the cache. */
  cache_write: number;
  /** Output tokens, including thinking. */
  output: number;
  /** The part of `output` that was thinking, if the vendor reports it. */
  reasoning: number;
};

/** A tool call ended. */
export type ToolFinished = {
  /** The call. */
  item: ItemId;
  /** How it ended. */
  status: ToolStatus;
  /** The output as text. If it is longer than `bounds::TEXT_BYTES`, its start and its end
   * are kept, with a line in between that says how much is missing. */
  output: string;
  /** The length of `output` before it was cut; `None` if it was not. */
  output_bytes?: number;
  /** Images and other output that is not text, described: `image/png, 1234 bytes`. */
  attachments?: Array<string>;
  /** The exit code of a command, if the agent reports it. */
  exit_code?: number;
  /** Files that the call changed, at most `bounds::LIST_ENTRIES`. */
  changes?: Array<FileChange>;
};

/** What a tool does, whatever the agent calls it. */
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
  /** Time since its start in milliseconds. */
  elapsed_ms?: number;
};

/** A tool call started. Sent again with the same item when more is known about the call. */
export type ToolStarted = {
  /** Identifies the call. */
  item: ItemId;
  /** The tool's name, as the agent writes it. */
  name: string;
  /** What the tool does. */
  kind: ToolKind;
  /** What it is used on, in one line: a path, a command, a pattern, a URL. Present even if `input` was dropped. */
  subject?: string;
  /** The arguments in the agent's own shape; `None` while they are being written. `ToolStarted::typed_input` reads
   * those of common tools. */
  input?: Json;
  /** The MCP server that provides the tool. */
  mcp_server?: string;
  /** The progress of the call. */
  state: ToolState;
};

/** The progress of a tool call. */
export type ToolState = 'preparing' | 'running';

/** How a tool call ended. */
export type ToolStatus = 'completed' | 'failed' | 'denied' | 'cancelled' | 'background';

/** A turn ended. Not the end of the run: background work can start another turn, and the last one counts. */
export type TurnFinished = {
  /** The number of the turn in this process, from 1. */
  number: number;
  /** How it ended. */
  outcome: Outcome;
  /** The final answer: the last text of the turn, which was also sent as a block. Only its start, if it is longer than
   * `bounds::TEXT_BYTES`. */
  text?: string;
  /** What went wrong. */
  error?: ErrorInfo;
  /** Why it stopped, as the vendor names it. */
  stop_reason?: string;
  /** Wall time in milliseconds. */
  duration_ms?: number;
  /** Time spent in the API in milliseconds. */
  api_duration_ms?: number;
  /** Steps of the model, for display: vendors count them in different ways. */
  steps?: number;
  /** Tool calls that were not allowed, at most `bounds::LIST_ENTRIES`. */
  denials?: Array<Denial>;
  /** The answer in the requested schema. */
  structured_output?: Json;
};

/** A turn started: the model works on a prompt. */
export type TurnStarted = {
  /** The number of the turn in this process, from 1. */
  number: number;
};

/** Output, or an event of a newer version, that this version does not know. */
export type Unknown = {
  /** Its type, as the agent or the newer version names it. */
  type_name: string;
};

/** Tokens and cost. Vendors count in different ways; all are converted to the same split, and `run` is the total of this
 * run, whatever the vendor's figures cover. */
export type Usage = {
  /** What `tokens` and `cost` cover. */
  scope: UsageScope;
  /** The reported tokens, in the common split. */
  tokens: Tokens;
  /** The reported cost. */
  cost?: Cost;
  /** The model, if the figures are for one. */
  model?: string;
  /** How full the model's context is. */
  context?: ContextUse;
  /** The run's total so far. It replaces earlier totals; never add them up. */
  run: RunUsage;
};

/** What a usage report covers. */
export type UsageScope = 'step' | 'turn' | 'run' | 'session';

/** A message to the model. */
export type UserMessage = {
  /** Identifies the block. */
  item: ItemId;
  /** The text, or a piece of it. */
  text: string;
  /** Which piece of the block this is. */
  piece?: Piece;
  /** Who wrote it. */
  origin: Origin;
};

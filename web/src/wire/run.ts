// Made from the Rust code, and held against it by a test of ralph_server: see CONTRIBUTING.md. Do not edit.
import type { AgentEvent, AgentKind, ErrorInfo, ExitInfo, GrantId, ItemId, Outcome, RequestId, Tokens } from './agent';

/** An answer to a request. It names nothing that a redacted journal could have changed: grants and questions are the
 * ones that the runner holds. */
export type AnswerChoice =
  | {
      kind: 'allow';
      /** The lasting permissions that are given with it, from the request's list. None by default. */
      grants?: Array<GrantId>;
    }
  | { kind: 'allow_always' }
  | {
      kind: 'allow_changed';
      /** The arguments. */
      input: unknown;
    }
  | {
      kind: 'deny';
      /** What the model is told. */
      reason: string;
    }
  | {
      kind: 'deny_and_interrupt';
      /** What the model is told. */
      reason: string;
    }
  | {
      kind: 'answers';
      /** The answers. */
      answers: Array<string>;
    };

/** A process has ended. */
export type AttemptEnded = {
  /** How, by what is known about it. */
  outcome: Outcome;
  /** What went wrong. */
  error?: ErrorInfo;
  /** How the process ended. */
  exit: ExitInfo;
  /** What it cost, and what it used. */
  totals: Totals;
  /** Whether the agent gave no final text and what it streamed is taken instead. */
  is_degraded?: boolean;
  /** The session, which can be resumed. */
  session_id?: string;
  /** Whether it is tried once more. */
  will_retry?: boolean;
};

/** A process was started. */
export type AttemptStarted = {
  /** Counts from 1 in each iteration. */
  number: number;
  /** The process, for display. */
  pid: number;
  /** Its output, relative to the run's directory. */
  raw_log: string;
  /** The program and its version. */
  program: string;
  /** The agent's version, where it says. */
  agent_version?: string;
};

/** A limit is reached, and the run waits for somebody to raise it. */
export type BudgetAwaited = {
  /** Which limit. */
  limit: LimitKind;
  /** How much is used, for people. */
  message: string;
  /** The limit as it is: micro-dollars, tokens, iterations or seconds. */
  limit_value?: number;
  /** When the run ends if the limit is not raised; none waits without limit. */
  until?: string;
};

/** Somebody told the run something. */
export type CommandReceived = {
  /** The client's own id of the command; a repeated one is ignored. */
  command_id: string;
  /** `send`, `answer`, `interrupt`, `stop`, … */
  command: string;
  /** Who said so, where the client tells: for people. */
  by?: string;
  /** The message that was sent, changed or taken back. How far it is: queued, until a `message_sent`; sent, until
   * the agent's own `message_updated`; lost if the run ends before the one or the process before the other. */
  message_id?: string;
  /** When a message is to reach the agent. */
  mode?: SendMode;
  /** The model that was chosen; none is the agent's default one. */
  model?: string;
  /** The permission mode that was chosen. */
  permission_mode?: PermissionChoice;
  /** A message's text; the reason of a denial; the answers to questions, one per line. Redacted. */
  text?: string;
  /** The arguments, as JSON, that the answer put in place of those the agent asked for. Redacted. */
  changed_input?: string;
  /** The request that was answered. */
  request?: RequestId;
  /** The lasting permissions that the answer gave, from the request's list. */
  grants?: Array<GrantId>;
  /** The item it is about. */
  item?: ItemId;
  /** Why it was refused, if it was. */
  refused?: string;
};

export type Continued = {
  /** How long it was suspended. No duration or limit of the run counts this time. */
  suspended_ms: number;
};

/** What can be said to a run. */
export type ControlCommand =
  | {
      command: 'send';
      /** The message. */
      text: string;
      /** When the agent is to see it. */
      mode: SendMode;
    }
  | {
      command: 'edit_message';
      /** The message, as its receipt named it. */
      message_id: string;
      /** The new words. */
      text: string;
    }
  | {
      command: 'withdraw_message';
      /** The message, as its receipt named it. */
      message_id: string;
    }
  | {
      command: 'answer';
      /** The request. */
      request: RequestId;
      /** The answer. */
      answer: AnswerChoice;
    }
  | { command: 'interrupt' }
  | { command: 'stop' }
  | { command: 'kill' }
  | { command: 'close_input' }
  | {
      command: 'set_model';
      /** The model; none is the agent's default. */
      model: string | null;
    }
  | {
      command: 'set_permission_mode';
      /** The mode. */
      mode: PermissionChoice;
    }
  | { command: 'top_up' } & TopUp
  | { command: 'status' };

/** Why a run pauses. */
export type CooldownCause = 'pause' | 'usage_limit' | 'backoff';

/** The run pauses before the next iteration. */
export type CooldownStarted = {
  /** When the next iteration starts. */
  until: string;
  cause: CooldownCause;
  /** The agent's service is overloaded, or nothing is known about when its limit resets: the run only tries again. */
  is_retry?: boolean;
};

/** Why a run ended. Closed: everything that can end a run is here, and each has one exit code. */
export type EndReason =
  | 'completed'
  | 'agent_error'
  | 'verify_failed'
  | 'denied'
  | 'not_logged_in'
  | 'model_not_found'
  | 'no_credit'
  | 'prompt_too_long'
  | 'watchdog'
  | 'backend_unavailable'
  | { limit: LimitKind }
  | 'interrupted'
  | 'stopped'
  | 'terminated'
  | 'hung_up'
  | 'output_closed'
  | 'crashed'
  | 'no_result'
  | 'storage_failed'
  | 'lost';

/** A record that a warning is based on. */
export type Evidence = {
  /** The record's number. */
  seq: number;
  /** What it shows, in one short line. */
  text: string;
};

/** A prompt of the loop has ended. */
export type IterationEnded = {
  /** Counts from 1. */
  number: number;
  /** How. */
  outcome: IterationOutcome;
  /** What it cost, and what it used. */
  totals: Totals;
  /** What went wrong: the next iteration starts with it. */
  failure?: string;
};

/** How a prompt of the loop ended. */
export type IterationOutcome = 'completed' | 'continues' | 'verify_failed' | 'failed' | 'timed_out' | 'ended';

/** A prompt of the loop begins. */
export type IterationStarted = {
  /** Counts from 1. */
  number: number;
  /** What the agent is told, redacted. */
  prompt: string;
  /** Which role works, in a loop of roles. */
  role?: string;
};

/** Which limit. */
export type LimitKind = 'iterations' | 'runtime' | 'iteration_timeout' | 'cost' | 'turns' | 'tokens' | 'usage';

/** A limit was raised while the run goes on. */
export type LimitRaised = {
  /** Which limit. */
  limit: LimitKind;
  /** The new limit: micro-dollars, tokens, iterations or seconds. */
  to: number;
};

/** A session has no process just now. */
export type MessageAwaited = {
  /** The conversation that the next message goes on with; none where it begins one. */
  session_id?: string;
};

/** A message was given to the agent. */
export type MessageSent = {
  /** The message, as its command named it. */
  message_id: string;
};

/** What may happen without asking. */
export type PermissionChoice = 'ask' | 'accept_edits' | 'plan' | 'refuse' | 'bypass';

/** A message that the agent was not given yet. */
export type QueuedReport = {
  /** Names it. */
  message_id: string;
  /** When it is to be delivered. */
  mode: SendMode;
  /** The beginning of it, redacted. */
  text: string;
};

/** A command was taken. What comes of it is in the journal. */
export type Receipt = {
  /** The message's id, which later receipts in the journal carry. */
  message_id?: string;
  /** Whether it was being done already, as a second `stop`. */
  is_already_done?: boolean;
  /** More, for people. */
  note?: string;
  /** The answer to `status`. */
  status?: StatusReport;
};

/** What happened in the run around the agent. As JSON: `{"type":"verify_finished","data":{…}}`. */
export type RunBody =
  | { type: 'run_started'; data: RunStarted }
  | { type: 'iteration_started'; data: IterationStarted }
  | { type: 'attempt_started'; data: AttemptStarted }
  | { type: 'attempt_ended'; data: AttemptEnded }
  | { type: 'verify_started'; data: VerifyStarted }
  | { type: 'verify_finished'; data: VerifyFinished }
  | { type: 'iteration_ended'; data: IterationEnded }
  | { type: 'warned'; data: Warned }
  | { type: 'session_forked'; data: SessionForked }
  | { type: 'command_received'; data: CommandReceived }
  | { type: 'message_sent'; data: MessageSent }
  | { type: 'message_awaited'; data: MessageAwaited }
  | { type: 'cooldown_started'; data: CooldownStarted }
  | { type: 'budget_awaited'; data: BudgetAwaited }
  | { type: 'limit_raised'; data: LimitRaised }
  | { type: 'stop_started'; data: StopStarted }
  | { type: 'suspended'; data: Suspended }
  | { type: 'continued'; data: Continued }
  | { type: 'run_ended'; data: RunEnded };

/** The run is over. */
export type RunEnded = {
  /** Why. */
  reason: EndReason;
  /** What the runner exits with. */
  exit_code: number;
  /** More about it, for people: what went wrong and what to do. */
  message?: string;
  /** Prompts of the loop. */
  iterations: number;
  /** What it cost, and what it used. */
  totals: Totals;
};

/** What happened: in the agent, or in the run around it. */
export type RunEvent = AgentEvent | RunBody;

/** Whether a run works by itself or waits for messages. */
export type RunKind = 'loop' | 'session';

/** One line of a journal: something that happened, stamped. Order is by `seq`, whatever the clock does. */
export type RunRecord = {
  /** Counts from 1 in each run, without gaps. */
  seq: number;
  /** When, by the clock of the runner's machine. */
  at: string;
  /** Which prompt of the loop, from 1; 0 before the first. */
  iteration: number;
  /** Which process of the iteration, from 1; 0 before the first. */
  attempt: number;
  /** What. */
  event: RunEvent;
};

/** The run begins. */
export type RunStarted = {
  /** The version of the journal's format. */
  format_version: number;
  /** Names the run. */
  run_id: string;
  /** The version of ralph that wrote it. */
  ralph_version: string;
  /** Where the agent works. */
  workspace: string;
  /** Which backend. */
  backend: AgentKind;
  /** The backend's name for people. */
  display_name: string;
  /** The model that was asked for. */
  model?: string;
  /** Planner, coder, or a mode of the user's. */
  mode?: string;
  /** Names the task. */
  task?: string;
  /** What happens without asking. */
  permission_mode?: string;
  /** The limit of iterations; 0 is none. */
  max_iterations: number;
  /** The limit of money. */
  max_cost?: number;
  /** What earlier runs of the task have cost. The limit of money includes it. */
  spent_before?: number;
  /** The commands that verify the work. */
  verify?: Array<string>;
  /** Whether it works by itself or waits for messages. */
  kind: RunKind;
  /** Who started it through a server, for people: `token ci`, `session 1f2e3d4c`. None for runs of the command line. */
  by?: string;
  /** The run whose conversation this one goes on with. */
  resumed_from?: string;
  /** Whether the agent keeps nothing of the conversation: it cannot be gone on with. */
  is_ephemeral?: boolean;
  /** The commit that was checked out in the workspace, if it is a git repository. */
  start_commit?: string;
};

/** What a run is doing.
 * As JSON it is flat: `{"state":"tool","name":"Bash"}`, `{"state":"waiting","for":"plan"}`. Reading also accepts the
 * words of earlier versions, such as `running` and `idle`. */
export type RunState =
  | { state: 'starting' }
  | { state: 'thinking' }
  | { state: 'responding' }
  | {
      state: 'tool';
      name: string;
      /** What the tool is used on, in one line of at most 120 characters. */
      subject?: string;
    }
  | { state: 'verifying' }
  | { state: 'waiting' } & (
        | { for: 'permission' }
        | { for: 'question' }
        | { for: 'plan' }
        | { for: 'budget' }
        | { for: 'limit'; until: string }
        | { for: 'message' })
  | { state: 'cooling'; until: string }
  | { state: 'stopping' }
  | { state: 'ended'; reason: EndReason };

/** When a message is delivered to the agent. */
export type SendMode = 'steer' | 'queue';

/** The agent goes on under another session id than it was asked for. */
export type SessionForked = {
  /** The one it was asked for. */
  asked: string;
  /** The one it has. */
  actual: string;
};

/** How a run is going. */
export type StatusReport = {
  /** Which prompt of the loop, from 1. */
  iteration: number;
  /** Which process of the iteration, from 1. */
  attempt: number;
  /** The last record of the journal. */
  seq: number;
  /** What it cost, and what it used. */
  totals: Totals;
  /** The requests that wait for an answer, the oldest first. */
  pending?: Array<RequestId>;
  /** Whether it works by itself or waits for messages. */
  kind: RunKind;
  /** The messages that the agent was not given yet, the next one first; the first of them where there are many. */
  queue?: Array<QueuedReport>;
  /** How many messages wait. */
  queue_length: number;
} & (
    | { state: 'starting' }
    | { state: 'thinking' }
    | { state: 'responding' }
    | {
        state: 'tool';
        name: string;
        /** What the tool is used on, in one line of at most 120 characters. */
        subject?: string;
      }
    | { state: 'verifying' }
    | { state: 'waiting' } & (
          | { for: 'permission' }
          | { for: 'question' }
          | { for: 'plan' }
          | { for: 'budget' }
          | { for: 'limit'; until: string }
          | { for: 'message' })
    | { state: 'cooling'; until: string }
    | { state: 'stopping' }
    | { state: 'ended'; reason: EndReason });

/** The run is being stopped. */
export type StopStarted = {
  /** The reason that `run_ended` will give, unless the agent ends otherwise first. */
  reason: EndReason;
};

export type Suspended = {
  /** The runner: `kill -CONT` continues it, as `fg` does. */
  pid: number;
};

/** How much is added to each limit. */
export type TopUp = {
  /** Micro-dollars. */
  cost?: number;
  tokens?: number;
  iterations?: number;
  /** Of the time limit. */
  seconds?: number;
};

/** What something cost, and what it used. */
export type Totals = {
  /** Tokens. */
  tokens: Tokens;
  /** Money; none where nobody knows. */
  cost?: number;
  /** Whether the money is our estimate, at least in part. */
  is_estimate?: boolean;
  /** Turns of the agent. */
  turns: number;
  /** Wall time. */
  duration_ms: number;
};

/** A verify command has ended. */
export type VerifyFinished = {
  /** The command line. */
  command: string;
  /** Whether it agrees: it exited with 0. */
  is_ok: boolean;
  /** How it ended. */
  exit: ExitInfo;
  /** The end of what it wrote, redacted. */
  output: string;
  /** Its whole output, relative to the run's directory. */
  log?: string;
  /** How long it took. */
  duration_ms: number;
  /** Its time limit, if that ended it. */
  timed_out_after_ms?: number;
};

/** A verify command begins. */
export type VerifyStarted = {
  /** The command line. */
  command: string;
};

/** Something a person should know while it happens. */
export type Warned = {
  /** What kind. */
  kind: WarningKind;
  /** For people. */
  message: string;
  /** The records that show it, oldest first. */
  evidence?: Array<Evidence>;
};

/** What a warning is about. */
export type WarningKind =
  | 'cost_near_limit'
  | 'tokens_near_limit'
  | 'other_directory'
  | 'unreadable_lines'
  | 'log_truncated'
  | 'storage'
  | 'unanswered'
  | 'degraded'
  | 'iterations_near_limit'
  | 'runtime_near_limit'
  | 'silence'
  | 'repeated_call'
  | 'repeated_failure'
  | 'repeated_answer'
  | 'flipped_file'
  | 'burn_rate'
  | 'out_of_scope'
  | 'context_nearly_full'
  | 'unknown_events'
  | 'notification_failed'
  | 'prompt_changed';

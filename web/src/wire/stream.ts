// Made from the Rust code, and held against it by a test of ralph_server: see CONTRIBUTING.md. Do not edit.
import type { ContextUse, PermissionRequested, PlanProposed, QuestionAsked, Tokens } from './agent';
import type { ControlCommand, EndReason, Receipt, RunKind, RunRecord, RunState } from './run';

/** Something that waits for an answer. */
export type Approval = {
  run: string;
  request: string;
  kind: ApprovalKind;
  seq: number;
  asked_at: string;
  /** None if there is too much of it: the API has it. */
  data: ApprovalData | null;
};

/** What somebody has to decide. */
export type ApprovalData = PermissionRequested | QuestionAsked | PlanProposed;

/** What kind of question. */
export type ApprovalKind = 'permission' | 'question' | 'plan';

/** A list. */
export type FeedName = 'runs' | 'inbox';

/** What a client says. */
export type FromClient =
  | {
      type: 'subscribe';
      /** The client's name for this request. */
      id?: string;
      /** The last record that the client has; the end if absent. */
      after?: number;
      /** The journal it had it from. */
      epoch?: string;
      /** The version of the protocol that the client knows; 1 if absent. From 2 on, the list `runs` is told as
       * `runs_changed` after the first message. */
      protocol?: number;
    } & ({ run: string } | { feed: FeedName })
  | { type: 'unsubscribe' } & ({ run: string } | { feed: FeedName })
  | {
      type: 'command';
      /** The client's name for it, unique in the run: the same again is done once. */
      id: string;
      /** The run. */
      run: string;
      /** What. */
      command: ControlCommand;
    };

/** What is wrong. */
export type Problem = {
  /** For programs. */
  code: string;
  /** For people. */
  message: string;
};

/** A run at a glance: what lists show. */
export type RunSummary = {
  /** Names the run. */
  id: string;
  /** Changes when its journal is another one: what was read before means nothing then. */
  epoch: string;
  /** Whether it works by itself or waits for messages. */
  kind: RunKind;
  /** Where the agent works. */
  workspace: string;
  /** Which backend. */
  backend: string;
  /** The backend's name for people. */
  display_name: string;
  /** The model: as asked for, then as the agent says. */
  model: string | null;
  /** Planner, coder, or a mode of the user's. */
  mode: string | null;
  /** Names the task. */
  task: string | null;
  /** What happens without asking. */
  permission_mode: string | null;
  /** The title that a person gave it, else the start of the first prompt, redacted. */
  title: string;
  /** The tags that people gave it. */
  tags: Array<string>;
  /** When it began. */
  started_at: string;
  /** When it ended. */
  ended_at: string | null;
  /** When something happened last. */
  updated_at: string;
  /** What it is doing. */
  activity: RunState;
  /** Why it ended. */
  reason: EndReason | null;
  /** What the runner exited with. */
  exit_code: number | null;
  /** More about its end, for people. */
  message: string | null;
  /** Which prompt of the loop. */
  iteration: number;
  /** Which process of the iteration. */
  attempt: number;
  /** What it cost, and what it used. */
  totals: RunTotals;
  /** What it may cost, in millionths of a dollar. */
  max_cost_micro_usd: number | null;
  /** How full the model's memory is. */
  context: ContextUse | null;
  /** The agent's conversations, in order. */
  session_ids: Array<string>;
  /** Who started it through a server: the token or login session. None for runs of the command line. */
  started_by: string | null;
  /** The run whose conversation this one goes on with. */
  resumed_from: string | null;
  /** Whether the agent keeps nothing of the conversation: it cannot be resumed. */
  is_ephemeral: boolean;
  /** How many requests wait for an answer. */
  pending: number;
  /** How many errors it has met. */
  errors: number;
  /** The last record. */
  head_seq: number;
};

/** The totals of a run as lists have them. A journal calls the cost `cost`; here the name says the unit. */
export type RunTotals = {
  /** Tokens. */
  tokens: Tokens;
  /** Money, in millionths of a dollar; absent where nobody knows. */
  cost_micro_usd?: number;
  /** Whether the money is our estimate, at least in part. */
  is_estimate?: boolean;
  /** Turns of the agent. */
  turns: number;
  /** Wall time. */
  duration_ms: number;
};

/** Everything the server says. */
export type ToClient =
  | { type: 'hello'; protocol: number; server: string }
  | {
      type: 'subscribed';
      id?: string;
      /** Which journal it is. */
      epoch?: string;
      /** Records after this one will come. */
      after?: number;
      /** The last record there is. */
      head?: number;
    } & ({ run: string } | { feed: FeedName })
  | {
      type: 'reset';
      run: string;
      epoch: string;
      /** Records after this one will come; fetch the others. */
      after: number;
    }
  | { type: 'lagged'; run: string; from: number; to: number }
  | {
      type: 'closed';
      run: string;
      /** For programs. */
      code: string;
      /** For people. */
      message: string;
    }
  | { type: 'heartbeat'; heads: Array<[string, number]> }
  | { type: 'receipt'; id: string; run: string; receipt?: Receipt; error?: Problem }
  | {
      type: 'error';
      id?: string;
      /** For programs. */
      code: string;
      /** For people. */
      message: string;
    }
  | {
      type: 'records';
      run: string;
      epoch: string;
      /** The first record it stands for. Who has the one before has missed nothing. */
      from: number;
      /** The last one. */
      to: number;
      /** Pieces of text may be joined, or left out where their block follows. */
      records: Array<RunRecord>;
    }
  | {
      type: 'runs';
      version: number;
      /** Whether these are all; otherwise they are the ones that have changed. */
      is_all: boolean;
      runs: Array<RunSummary>;
    }
  | {
      type: 'runs_changed';
      version: number;
      /** Runs that were deleted. They are to be forgotten first; `runs` comes after that. */
      removed?: Array<string>;
      runs: Array<{ id: string } & Partial<RunSummary>>;
    }
  | {
      type: 'inbox';
      version: number;
      /** How many there are; the first of them are told. */
      count: number;
      approvals: Array<Approval>;
    };

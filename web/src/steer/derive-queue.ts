import { awaitsMessage } from '../layout/activity-words';
import type { Row, SentState } from '../run/row';
import type { RunSummary, SendMode } from '../wire';

/** How far a message is. `sending` and `failed` are known to this page alone. */
export type DeliveryState =
  | 'sending'
  | 'failed'
  | 'queued'
  | 'sent'
  | 'started'
  | 'completed'
  | 'withdrawn'
  | 'lost';

export interface QueuedMessage {
  /** The run's name for it; one of this page until there is one. */
  id: string;
  text: string;
  mode: SendMode;
  state: DeliveryState;
  /** When it came, in milliseconds. */
  at: number;
  /** What went wrong. */
  problem: string | null;
  /** The command that brought it; null if that is not known. */
  commandId: string | null;
}

/** What says of a message that the run has it. */
export type KnownMessage = Pick<QueuedMessage, 'id' | 'commandId'>;

/** A message that this page sent and that the run has not told of yet. */
export interface OutgoingMessage {
  key: string;
  /** The id that it was said under; null if it was refused, because then another try is another command. */
  commandId: string | null;
  /** As the receipt named it. */
  messageId: string | null;
  text: string;
  mode: SendMode;
  at: number;
  problem: string | null;
}

/** Whether the run tells of a message itself. After a reload only the id that it was said under can say so. */
export function isKnown(outgoing: OutgoingMessage, known: readonly KnownMessage[]): boolean {
  const { messageId, commandId } = outgoing;
  return known.some(
    (each) =>
      (messageId !== null && each.id === messageId) || (commandId !== null && each.commandId === commandId),
  );
}

/** Before the server has listed the messages, nobody knows of one that may have arrived whether it did. */
export function beforeTheList(outgoing: readonly OutgoingMessage[]): OutgoingMessage[] {
  return outgoing.map((each) => (each.commandId ? { ...each, problem: null } : each));
}

/** A message as the server lists it. */
export interface StoredMessage {
  id: string;
  command_id: string;
  text: string;
  mode: string;
  at: string;
  state: string;
}

const RANK: Record<DeliveryState, number> = {
  sending: 0,
  queued: 1,
  sent: 2,
  started: 3,
  completed: 4,
  lost: 5,
  withdrawn: 6,
  failed: 7,
};

const OF_ROW: Record<SentState, DeliveryState> = {
  queued: 'queued',
  sent: 'sent',
  started: 'started',
  completed: 'completed',
  cancelled: 'withdrawn',
  withdrawn: 'withdrawn',
  refused: 'failed',
};

const OF_STORED: Record<string, DeliveryState> = {
  queued: 'queued',
  sent: 'sent',
  delivered: 'started',
  withdrawn: 'withdrawn',
  lost: 'lost',
};

function modeOf(mode: string | null | undefined): SendMode {
  return mode === 'queue' ? 'queue' : 'steer';
}

/** The messages among the rows of the activity. */
export function messagesOfRows(rows: readonly Row[]): QueuedMessage[] {
  const messages: QueuedMessage[] = [];
  for (const row of rows) {
    if (row.body.kind !== 'command') continue;
    const { command, state } = row.body;
    // One that was refused never was a message; who sent it was told.
    if (command.command !== 'send' || !command.message_id || !state || state === 'refused') continue;
    messages.push({
      id: command.message_id,
      text: command.text ?? '',
      mode: modeOf(command.mode),
      state: OF_ROW[state] ?? 'sent',
      at: Date.parse(row.at),
      problem: null,
      commandId: command.command_id,
    });
  }
  return messages;
}

/**
 * All messages to a run in the order they came: what the server lists, what the activity shows, and what this page has
 * sent and nobody has told of yet. Of two accounts the one that is further counts.
 */
export function deriveQueue(
  stored: readonly StoredMessage[],
  rows: readonly QueuedMessage[],
  outgoing: readonly OutgoingMessage[],
  hasEnded: boolean,
): QueuedMessage[] {
  const messages = new Map<string, QueuedMessage>();
  for (const each of stored) {
    messages.set(each.id, {
      id: each.id,
      text: each.text,
      mode: modeOf(each.mode),
      state: OF_STORED[each.state] ?? 'sent',
      at: Date.parse(each.at),
      problem: null,
      commandId: each.command_id,
    });
  }
  for (const row of rows) {
    const known = messages.get(row.id);
    const state = known && RANK[known.state] > RANK[row.state] ? known.state : row.state;
    // The activity is told of a change at once, the list comes a moment later.
    messages.set(row.id, { ...row, state });
  }
  const known = [...messages.values()];
  for (const each of outgoing) {
    if (isKnown(each, known)) continue;
    const state = each.problem ? 'failed' : each.messageId ? 'queued' : 'sending';
    const { text, mode, at, problem, commandId } = each;
    messages.set(each.key, { id: each.messageId ?? each.key, text, mode, state, at, problem, commandId });
  }
  const all = [...messages.values()].sort((a, b) => a.at - b.at);
  if (!hasEnded) return all;
  return all.map((each) => (isWaiting(each.state) ? { ...each, state: 'lost' as const } : each));
}

function isWaiting(state: DeliveryState): boolean {
  return state === 'queued' || state === 'sent';
}

/** Whether a message can be changed or taken back. */
export function canChange(message: QueuedMessage): boolean {
  return message.state === 'queued';
}

/** What stands in the queue, and what was before. A message that the agent has is told of until the agent is idle. */
export function splitQueue(
  messages: readonly QueuedMessage[],
  run: RunSummary | undefined,
): { now: QueuedMessage[]; earlier: QueuedMessage[] } {
  const isBusy = run !== undefined && !awaitsMessage(run.activity) && run.activity.state !== 'ended';
  const isNow = ({ state }: QueuedMessage) =>
    state === 'sending' ||
    state === 'failed' ||
    state === 'queued' ||
    (isBusy && (state === 'sent' || state === 'started'));
  return { now: messages.filter(isNow), earlier: messages.filter((each) => !isNow(each)) };
}

export const DELIVERY_WORDS: Record<DeliveryState, string> = {
  sending: 'Sending…',
  failed: 'Not sent',
  queued: 'Queued',
  sent: 'Sent',
  started: 'The agent has it',
  completed: 'Done',
  withdrawn: 'Taken back',
  lost: 'Lost: the run ended first',
};

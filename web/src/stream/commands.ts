import type { ControlCommand, Receipt } from '../wire';
import type { FromClient, ToClient } from './messages';

/** A command that the run or the server did not take. */
export class CommandError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = 'CommandError';
  }
}

/** What is written down for later, or answers what still waits: right also when it comes late. */
const KEPT: readonly ControlCommand['command'][] = ['send', 'edit_message', 'withdraw_message', 'answer'];

const isKept = ({ command }: ControlCommand) => KEPT.includes(command);

interface Pending {
  run: string;
  command: ControlCommand;
  resolve(receipt: Receipt): void;
  reject(error: CommandError): void;
}

/** Unique over pages and time: the run does a command once for each id. */
export function newCommandId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `web-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/**
 * Commands without an answer yet. Those that are right also later are said again on a new connection, under the same
 * id; the others are about the moment, and who gave them is told that there is no connection.
 */
export class Commands {
  private readonly pending = new Map<string, Pending>();

  constructor(
    private readonly send: (message: FromClient) => boolean,
    private readonly newId: () => string = newCommandId,
  ) {}

  /** Says a command; under the id of an earlier try, it is done once. */
  say(run: string, command: ControlCommand, id = this.newId()): Promise<Receipt> {
    return new Promise((resolve, reject) => {
      const isSaid = this.send({ type: 'command', id, run, command });
      if (isSaid || isKept(command)) this.pending.set(id, { run, command, resolve, reject });
      else reject(new CommandError('no_connection', 'No connection: it was not sent'));
    });
  }

  /** The connection is lost. A stop that arrives an hour later is not what anybody wanted. */
  lost(): void {
    for (const [id, { command, reject }] of this.pending) {
      if (isKept(command)) continue;
      this.pending.delete(id);
      reject(new CommandError('connection_lost', 'The connection was lost before the run confirmed it'));
    }
  }

  repeat(): void {
    for (const [id, { run, command }] of this.pending) this.send({ type: 'command', id, run, command });
  }

  receive(message: Extract<ToClient, { type: 'receipt' | 'error' }>): void {
    const pending = message.id ? this.pending.get(message.id) : undefined;
    if (!message.id || !pending) return;
    this.pending.delete(message.id);
    if (message.type === 'error') pending.reject(new CommandError(message.code, message.message));
    else if (message.error) pending.reject(new CommandError(message.error.code, message.error.message));
    else pending.resolve(message.receipt ?? {});
  }
}

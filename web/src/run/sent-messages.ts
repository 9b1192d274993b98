import type { CommandReceived } from '../wire';
import type { Row, RowBody, SentState } from './row';

export function commandBody(command: CommandReceived): RowBody {
  const state: SentState | null = command.refused ? 'refused' : command.command === 'send' ? 'queued' : null;
  return { kind: 'command', command, state };
}

/** Messages that people sent to the agent, and how far they are. */
export class SentMessages {
  private readonly rows = new Map<string, Row>();

  /** A command was received: it sends a message, or changes one that was sent before. */
  commanded(row: Row): void {
    if (row.body.kind !== 'command') return;
    const { command } = row.body;
    const id = command.message_id;
    if (!id || command.refused) return;
    if (command.command === 'send') this.rows.set(id, row);
    if (command.command === 'withdraw_message') this.update(id, 'withdrawn');
    if (command.command === 'edit_message' && command.text) this.edit(id, command.text);
  }

  /** The row of a message, which is in another state now; none if it is not known. */
  update(id: string, state: SentState): Row | null {
    const row = this.rows.get(id);
    if (row?.body.kind !== 'command') return null;
    row.body = { ...row.body, state };
    row.version += 1;
    return row;
  }

  /** A message that said exactly this. */
  withText(text: string): Row | null {
    for (const row of this.rows.values()) {
      if (row.body.kind === 'command' && row.body.command.text?.trim() === text.trim()) return row;
    }
    return null;
  }

  private edit(id: string, text: string): void {
    const row = this.rows.get(id);
    if (row?.body.kind !== 'command') return;
    row.body = { ...row.body, command: { ...row.body.command, text } };
    row.version += 1;
  }
}

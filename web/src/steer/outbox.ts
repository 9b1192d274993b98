import { newCommandId } from '../stream/commands';
import type { Receipt, SendMode } from '../wire';
import { mayBeDone, problemWords } from './derive-problem';
import { isKnown, type KnownMessage, type OutgoingMessage } from './derive-queue';

/** Sends a message to the run. The run takes it once for each id. */
export type Say = (text: string, mode: SendMode, id: string) => Promise<Receipt>;

interface Kept {
  draft: string;
  outgoing: OutgoingMessage[];
}

/** New words for a message that waits. */
export interface Edit {
  text: string;
  isSaving: boolean;
}

const TAKEN = 'The agent has the message already. Your new words are in the input: send them to correct it.';
const RELOADED = 'The page was reloaded before the run confirmed it. Send it again: the agent gets it once.';

/** What a person writes to one run. It outlives the page's parts, a loss of the line, and a reload. */
export class Outbox {
  draft = '';
  outgoing: OutgoingMessage[] = [];
  /** Messages in the queue that are being changed, by their ids. */
  edits: ReadonlyMap<string, Edit> = new Map();
  /** What happened to what was written. */
  notice: string | null = null;
  version = 0;
  private lastKey = 0;
  /** Messages that are said after the one that is on its way. */
  private readonly waiting: string[] = [];
  private isSaying = false;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly run: string,
    private readonly say: Say,
    private readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null,
    private readonly now: () => number = Date.now,
  ) {
    this.load();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  snapshot = (): number => this.version;

  write(draft: string): void {
    this.draft = draft;
    if (draft === '') this.notice = null;
    this.changed();
  }

  /** Sends the draft; false if there is nothing in it. */
  send(mode: SendMode): boolean {
    const text = this.draft.trim();
    if (text === '') return false;
    this.draft = '';
    this.notice = null;
    this.sendText(text, mode, newCommandId());
    return true;
  }

  /** Sends one again that could not be sent; under its id if it may have arrived. */
  sendAgain(key: string): void {
    const message = this.take(key);
    if (message) this.sendText(message.text, message.mode, message.commandId ?? newCommandId());
  }

  /** Brings one that could not be sent back into the input, before what is there. */
  putBack(key: string): void {
    const message = this.take(key);
    if (!message) return;
    this.addToDraft(message.text);
    this.changed();
  }

  /** Begins or goes on with new words for a message that waits; null ends it. */
  edit(id: string, edit: Edit | null): void {
    const edits = new Map(this.edits);
    if (edit) edits.set(id, edit);
    else edits.delete(id);
    this.edits = edits;
    this.changed();
  }

  /** The agent has the message that was being changed, as it was: the new words are not lost. */
  rescueEdit(id: string, was: string): void {
    const edit = this.edits.get(id);
    // Whether words on their way were in time is told by their receipt.
    if (!edit || edit.isSaving) return;
    if (edit.text.trim() !== '' && edit.text.trim() !== was.trim()) {
      this.addToDraft(edit.text.trim());
      this.notice = TAKEN;
    }
    this.edit(id, null);
  }

  discard(key: string): void {
    if (this.take(key)) this.changed();
  }

  /** The run tells of these messages itself now. */
  forget(known: readonly KnownMessage[]): void {
    const kept = this.outgoing.filter((each) => !isKnown(each, known));
    if (kept.length === this.outgoing.length) return;
    this.outgoing = kept;
    this.changed();
  }

  private sendText(text: string, mode: SendMode, commandId: string): void {
    this.lastKey += 1;
    const key = `${this.now()}-${this.lastKey}`;
    const message = { key, commandId, messageId: null, text, mode, at: this.now(), problem: null };
    this.outgoing = [...this.outgoing, message];
    this.waiting.push(key);
    this.changed();
    if (!this.isSaying) void this.sayWaiting();
  }

  /** One after the other: two that are said at once can reach the agent in any order. */
  private async sayWaiting(): Promise<void> {
    this.isSaying = true;
    for (let key = this.waiting.shift(); key; key = this.waiting.shift()) await this.sayOne(key);
    this.isSaying = false;
  }

  private async sayOne(key: string): Promise<void> {
    const message = this.outgoing.find((each) => each.key === key);
    if (!message?.commandId) return;
    try {
      const receipt = await this.say(message.text, message.mode, message.commandId);
      this.update(key, { messageId: receipt.message_id ?? null });
      if (!receipt.message_id) this.discard(key);
    } catch (error) {
      this.update(key, { problem: problemWords(error), ...(!mayBeDone(error) && { commandId: null }) });
    }
  }

  private addToDraft(text: string): void {
    this.draft = this.draft.trim() ? `${text}\n\n${this.draft}` : text;
  }

  private take(key: string): OutgoingMessage | null {
    const found = this.outgoing.find((each) => each.key === key) ?? null;
    if (found) this.outgoing = this.outgoing.filter((each) => each !== found);
    return found;
  }

  private update(key: string, change: Partial<OutgoingMessage>): void {
    this.outgoing = this.outgoing.map((each) => (each.key === key ? { ...each, ...change } : each));
    this.changed();
  }

  private changed(): void {
    this.version += 1;
    this.save();
    for (const listener of this.listeners) listener();
  }

  private get name(): string {
    return `ralph.steer.${this.run}`;
  }

  private load(): void {
    try {
      const kept = JSON.parse(this.storage?.getItem(this.name) ?? 'null') as Partial<Kept> | null;
      if (typeof kept?.draft === 'string') this.draft = kept.draft;
      if (!Array.isArray(kept?.outgoing)) return;
      this.outgoing = kept.outgoing.map((each) =>
        each.messageId || each.problem ? each : { ...each, problem: RELOADED },
      );
    } catch {
      // What cannot be read is as good as nothing.
    }
  }

  private save(): void {
    try {
      if (this.draft === '' && this.outgoing.length === 0) this.storage?.removeItem(this.name);
      else this.storage?.setItem(this.name, JSON.stringify({ draft: this.draft, outgoing: this.outgoing }));
    } catch {
      // Storage can be full or forbidden; then it lasts as long as the page.
    }
  }
}

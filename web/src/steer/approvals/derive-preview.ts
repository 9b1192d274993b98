import { isDropped } from '../../run/derive-dropped';
import type { PermissionRequested } from '../../wire';
import { type Shown, shownText } from './derive-shown';
import { visibleJson, visibleText } from './derive-visible';

/** What a tool would do, as it is shown to whoever decides. Nothing in it is hidden. */
export type Preview =
  | { as: 'command'; shown: Shown }
  | { as: 'diff'; path: string; old: string; new: string }
  | { as: 'json'; shown: Shown }
  | { as: 'too_long'; subject: string | null };

/** An argument that the preview itself does not show. */
export interface Fact {
  name: string;
  value: string;
}

export interface Previewed {
  preview: Preview;
  facts: Fact[];
}

/** Commands are shown as commands, edits as diffs, their other arguments below, everything else as it is. */
export function previewOf({ input, description, subject }: PreviewInput): Previewed | null {
  if (input === undefined || input === null) return null;
  if (typeof input !== 'object' || Array.isArray(input)) return asJson(input);
  if (isDropped(input)) {
    return { preview: { as: 'too_long', subject: subject ? visibleText(subject) : null }, facts: [] };
  }
  const fields = input as Record<string, unknown>;
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : null);
  const without = (...shown: string[]) => factsOf(fields, shown, description);
  const command = text('command');
  if (command !== null) {
    return { preview: { as: 'command', shown: shownText(command) }, facts: without('command') };
  }
  const path = text('file_path');
  const [before, after] = [text('old_string'), text('new_string')];
  if (path !== null && before !== null && after !== null) {
    return { preview: diffOf(path, before, after), facts: without('file_path', 'old_string', 'new_string') };
  }
  const content = text('content');
  if (path !== null && content !== null) {
    return { preview: diffOf(path, '', content), facts: without('file_path', 'content') };
  }
  return asJson(input);
}

type PreviewInput = Pick<PermissionRequested, 'input' | 'description' | 'subject'>;

function asJson(input: unknown): Previewed {
  return { preview: { as: 'json', shown: shownText(visibleJson(input)) }, facts: [] };
}

function diffOf(path: string, before: string, after: string): Preview {
  return { as: 'diff', path: visibleText(path), old: visibleText(before), new: visibleText(after) };
}

function factsOf(
  fields: Record<string, unknown>,
  shown: readonly string[],
  description: string | undefined,
): Fact[] {
  return Object.entries(fields)
    .filter(([name, value]) => {
      // It stands above the preview.
      const isTold = name === 'description' && value === description;
      return !shown.includes(name) && !isTold && value !== undefined;
    })
    .map(([name, value]) => ({
      name: visibleText(name),
      value: typeof value === 'string' ? visibleText(value) : visibleJson(value, 0),
    }));
}

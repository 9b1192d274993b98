import type { PermissionRequested } from '../../wire';

/** What a tool would do, as it is shown to whoever decides. */
export type Preview =
  | { as: 'command'; text: string }
  | { as: 'diff'; path: string; old: string; new: string }
  | { as: 'json'; text: string }
  | null;

function field(input: object, name: string): string | null {
  const value = (input as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : null;
}

/** Commands are shown as commands, edits as diffs, everything else as it is. */
export function previewOf({ input }: Pick<PermissionRequested, 'input'>): Preview {
  if (input === undefined || input === null) return null;
  if (typeof input === 'object') {
    const command = field(input, 'command');
    if (command !== null) return { as: 'command', text: command };
    const path = field(input, 'file_path');
    const before = field(input, 'old_string');
    const after = field(input, 'new_string');
    if (path !== null && before !== null && after !== null)
      return { as: 'diff', path, old: before, new: after };
    const content = field(input, 'content');
    if (path !== null && content !== null) return { as: 'diff', path, old: '', new: content };
  }
  return { as: 'json', text: JSON.stringify(input, null, 2) };
}

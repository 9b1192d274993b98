import type { DiffSource } from '../diff/derive-source';
import type { ToolCall } from '../run/tool-call';
import type { ChangeKind } from '../wire';
import { anyTextAt, listAt, pathAt, textAt } from './read-input';

export interface Edits {
  diffs: DiffSource[];
  /** Files of which only the name is known. */
  files: { path: string; kind: ChangeKind }[];
}

const MOST = 50;

/** What a call changes: as its end tells it, or as its arguments say before that. */
export function deriveEdits(call: ToolCall): Edits {
  const told = call.changes.slice(0, MOST);
  const fromInput = editsOfInput(call.input);
  if (told.some((change) => change.diff)) {
    return {
      diffs: told.filter((change) => change.diff).map((change) => ({ change })),
      files: filesOf(told),
    };
  }
  if (fromInput.length > 0) return { diffs: fromInput, files: [] };
  const files = told.length > 0 ? filesOf(told) : plannedFiles(call.input);
  return { diffs: [], files };
}

function filesOf(changes: ToolCall['changes']): Edits['files'] {
  return changes.filter((change) => !change.diff).map(({ path, kind }) => ({ path, kind }));
}

function editsOfInput(input: unknown): DiffSource[] {
  const path = pathAt(input);
  if (path === null) return [];
  const content = anyTextAt(input, 'content', 'file_text');
  if (content !== null) return [{ path, old: '', new: content }];
  const edits = listAt(input, 'edits');
  return (edits.length > 0 ? edits.slice(0, MOST) : [input]).flatMap((edit) => {
    const before = anyTextAt(edit, 'old_string', 'old_str', 'oldText');
    const after = anyTextAt(edit, 'new_string', 'new_str', 'newText', 'new_source');
    if (before === null && after === null) return [];
    return [{ path, old: before ?? '', new: after ?? '', hasNumbers: false }];
  });
}

const KINDS: Record<string, ChangeKind> = {
  add: 'added',
  delete: 'deleted',
  update: 'modified',
  move: 'moved',
};

/** Files in arguments that name nothing else. */
function plannedFiles(input: unknown): Edits['files'] {
  return listAt(input, 'changes')
    .slice(0, MOST)
    .flatMap((change) => {
      const path = textAt(change, 'path');
      const kind = textAt(change, 'kind') ?? '';
      return path === null ? [] : [{ path, kind: (Object.hasOwn(KINDS, kind) && KINDS[kind]) || 'modified' }];
    });
}

/** Lines added and removed, where the call's end told them. */
export function deriveCounts(call: ToolCall): { added: number; removed: number } | null {
  const lines = call.changes.flatMap((change) => (change.lines ? [change.lines] : []));
  if (lines.length === 0) return null;
  return {
    added: lines.reduce((sum, [added]) => sum + added, 0),
    removed: lines.reduce((sum, [, removed]) => sum + removed, 0),
  };
}

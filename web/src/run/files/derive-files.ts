import type { Change } from '../../api/changes';
import type { FileChange } from '../../wire';
import { deriveNet } from './derive-net';

/** One change of a file by one call. */
export interface OneChange {
  seq: number;
  at: string;
  change: FileChange;
}

/** A file that the run changed, with everything that was done to it. */
export interface ChangedFile {
  path: string;
  /** In order; none where only the net change is known. */
  changes: OneChange[];
  /** What several changes come to, as one; null where there is only one, or that cannot be told. */
  net: FileChange | null;
  /** Of that, or else of all changes together. */
  added: number;
  removed: number;
  /** What became of it in the end. */
  kind: FileChange['kind'];
}

/** Lines added and removed by the hunks of a diff. */
export function countLines(diff: string): [added: number, removed: number] {
  let added = 0;
  let removed = 0;
  let isInHunk = false;
  for (const line of diff.split('\n')) {
    if (line.startsWith('@@')) isInHunk = true;
    else if (isInHunk && line.startsWith('+')) added += 1;
    else if (isInHunk && line.startsWith('-')) removed += 1;
  }
  return [added, removed];
}

function fileChange({ path, kind, diff, added, removed }: Change): FileChange {
  return {
    path,
    kind,
    ...(diff !== null && { diff }),
    ...(added !== null && removed !== null && { lines: [added, removed] as [number, number] }),
  };
}

/** The files that tool calls reported, in the order of their first change. */
export function deriveFiles(items: readonly Change[]): ChangedFile[] {
  const files = new Map<string, ChangedFile>();
  for (const item of items) {
    const change = fileChange(item);
    const { path, kind } = change;
    const [added, removed] = change.lines ?? (change.diff ? countLines(change.diff) : [0, 0]);
    const one = { seq: item.seq ?? 0, at: item.at ?? '', change };
    const file = files.get(path);
    if (!file) {
      files.set(path, { path, kind, changes: [one], net: null, added, removed });
      continue;
    }
    file.changes.push(one);
    file.added += added;
    file.removed += removed;
    // A file that was added and then changed is still a new one.
    if (!(file.kind === 'added' && kind === 'modified')) file.kind = kind;
  }
  for (const file of files.values()) join(file);
  return [...files.values()];
}

/** The files that git found, with their net changes. */
export function deriveNetFiles(items: readonly Change[]): ChangedFile[] {
  return items.map((item) => ({
    path: item.path,
    kind: item.kind,
    changes: [],
    net: fileChange(item),
    added: item.added ?? 0,
    removed: item.removed ?? 0,
  }));
}

function join(file: ChangedFile): void {
  const { path, kind, changes } = file;
  const diff = changes.length > 1 ? deriveNet(changes.map(({ change }) => change)) : null;
  if (diff === null) return;
  file.net = { path, kind, diff };
  [file.added, file.removed] = countLines(diff);
}

/** A path as it is seen from the workspace. */
export function relativePath(path: string, workspace: string): string {
  const root = workspace.endsWith('/') ? workspace : `${workspace}/`;
  return workspace !== '' && path.startsWith(root) ? path.slice(root.length) : path;
}

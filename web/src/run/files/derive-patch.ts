import type { FileChange } from '../../wire';
import { type ChangedFile, relativePath } from './derive-files';

/** A diff with the names of its file, as `patch` and `git apply` read it. */
function named({ kind, diff }: FileChange, path: string): string {
  if (!diff) return `# ${path}: the changed lines are not known.\n`;
  // Some agents name the file themselves, in their own way.
  const hunks = diff.slice(Math.max(0, diff.search(/^@@/m)));
  const before = kind === 'added' ? '/dev/null' : `a/${path}`;
  const after = kind === 'deleted' ? '/dev/null' : `b/${path}`;
  return `--- ${before}\n+++ ${after}\n${hunks.replace(/\n?$/, '\n')}`;
}

/** What was done to a file, as a patch: what it comes to, or else one change after the other. */
export function patchOf({ path, net, changes }: ChangedFile, workspace: string): string {
  const name = relativePath(path, workspace).replaceAll('\n', ' ');
  const diffs = net ? [net] : changes.map(({ change }) => change);
  return diffs.map((change) => named(change, name)).join('');
}

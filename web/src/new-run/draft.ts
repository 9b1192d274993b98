import { EMPTY_FORM, type FieldName, type RunForm } from './derive-form';

const NAME = 'ralph.new-run';

function storage(): Storage | null {
  try {
    return globalThis.sessionStorage ?? null;
  } catch {
    return null;
  }
}

/** What was typed into the dialog when it was closed. `wanted` is the workspace that is looked at now. */
export function loadDraft(wanted: string | undefined): Partial<RunForm> {
  try {
    const kept: unknown = JSON.parse(storage()?.getItem(NAME) ?? 'null');
    if (typeof kept !== 'object' || kept === null) return {};
    const isKnown = ([name, value]: [string, unknown]) => name in EMPTY_FORM && typeof value === 'string';
    const draft = Object.fromEntries(Object.entries(kept).filter(isKnown)) as Partial<RunForm>;
    // That everything is allowed is chosen each time.
    if (draft.permission === 'bypass') delete draft.permission;
    if (wanted !== undefined) delete draft.workspace;
    if (draft.kind !== 'session' && draft.kind !== 'loop') delete draft.kind;
    return draft;
  } catch {
    // What cannot be read is as good as nothing.
    return {};
  }
}

/** Keeps what was typed while the browser's tab is open. */
export function keepDraft(typed: Partial<RunForm>): void {
  try {
    const isEmpty = (Object.keys(typed) as FieldName[]).every((name) => !typed[name]);
    if (isEmpty) storage()?.removeItem(NAME);
    else storage()?.setItem(NAME, JSON.stringify(typed));
  } catch {
    // Storage can be full or forbidden; then it lasts as long as the dialog.
  }
}

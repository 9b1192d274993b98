/** Everything that the keyboard can do, in one table: the overlay shows it, and `useKey` listens for it. */
export const KEYS = {
  help: { keys: ['?'], does: 'Show all keys', where: 'Everywhere' },
  runs: { keys: ['g r'], does: 'Go to the list of runs', where: 'Everywhere' },
  theme: { keys: ['t'], does: 'Switch between dark, light and the system’s colours', where: 'Everywhere' },
  newRun: { keys: ['n'], does: 'New run', where: 'Everywhere' },
  answer: { keys: ['w'], does: 'Go to what waits for you', where: 'Everywhere' },
  next: { keys: ['j'], does: 'Next run, or next row of the activity', where: 'Lists' },
  previous: { keys: ['k'], does: 'Previous run, or previous row', where: 'Lists' },
  input: { keys: ['i'], does: 'Write to the agent', where: 'Run' },
  find: { keys: ['/', 'Ctrl+f', 'Meta+f'], does: 'Find in this run', where: 'Run' },
  latest: { keys: ['G', 'End'], does: 'Jump to the latest', where: 'Run' },
  first: { keys: ['g g', 'Home'], does: 'Jump to the beginning', where: 'Run' },
  nextError: { keys: ['e'], does: 'Next error', where: 'Run' },
  previousError: { keys: ['E'], does: 'Previous error', where: 'Run' },
  nextEdit: { keys: ['d'], does: 'Next edit', where: 'Run' },
  previousEdit: { keys: ['D'], does: 'Previous edit', where: 'Run' },
  nextAsk: { keys: ['a'], does: 'Next question', where: 'Run' },
  previousAsk: { keys: ['A'], does: 'Previous question', where: 'Run' },
  files: { keys: ['f'], does: 'Files changed, or the activity again', where: 'Run' },
  raw: { keys: ['r'], does: 'Raw output of the row in focus', where: 'Run' },
} as const satisfies Record<string, { keys: readonly string[]; does: string; where: string }>;

export type KeyName = keyof typeof KEYS;

/** How a key is written in the table. */
export function nameOfKey(
  event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>,
): string {
  // A letter says itself that it is a capital.
  const isShift = event.shiftKey && event.key.length > 1;
  const held = [event.ctrlKey && 'Ctrl', event.metaKey && 'Meta', event.altKey && 'Alt', isShift && 'Shift'];
  return [...held.filter(Boolean), event.key].join('+');
}

/** What was meant by a key after another: a name of the table, or nothing. */
export function matchKey(before: string | null, key: string, names: readonly KeyName[]): KeyName | null {
  for (const name of names) {
    const keys: readonly string[] = KEYS[name].keys;
    if (before !== null && keys.includes(`${before} ${key}`)) return name;
  }
  for (const name of names) {
    const keys: readonly string[] = KEYS[name].keys;
    if (keys.includes(key)) return name;
  }
  return null;
}

/** Arguments come from a model: nothing about their shape is certain. */
export type Arguments = Record<string, unknown>;

export function argumentsOf(input: unknown): Arguments {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? (input as Arguments) : {};
}

function own(input: unknown, key: string): unknown {
  const from = argumentsOf(input);
  return Object.hasOwn(from, key) ? from[key] : undefined;
}

/** The first of these arguments that is a text with something in it. */
export function textAt(input: unknown, ...keys: string[]): string | null {
  for (const key of keys) {
    const value = own(input, key);
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}

/** The first of these arguments that is a text, though it may be empty. */
export function anyTextAt(input: unknown, ...keys: string[]): string | null {
  for (const key of keys) {
    const value = own(input, key);
    if (typeof value === 'string') return value;
  }
  return null;
}

export function numberAt(input: unknown, key: string): number | null {
  const value = own(input, key);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function isTrueAt(input: unknown, key: string): boolean {
  return own(input, key) === true;
}

export function listAt(input: unknown, key: string): unknown[] {
  const value = own(input, key);
  return Array.isArray(value) ? value : [];
}

/** The file that a call is about. */
export function pathAt(input: unknown): string | null {
  return textAt(input, 'file_path', 'path', 'absolute_path', 'notebook_path', 'filePath', 'dir_path');
}

/** A text in one line, cut at a length that no screen shows. */
export function oneLine(text: string, most = 400): string {
  const line = text
    .slice(0, most * 2)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > most ? `${line.slice(0, most)}…` : line;
}

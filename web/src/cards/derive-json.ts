const MOST_CHARS = 100_000;

/** A value as readable JSON; whatever it is, never an exception. */
export function deriveJson(value: unknown): string {
  if (value === undefined) return '';
  let text: string;
  try {
    text = JSON.stringify(value, null, 2) ?? String(value);
  } catch {
    return 'This value cannot be shown.';
  }
  return text.length > MOST_CHARS
    ? `${text.slice(0, MOST_CHARS)}\n… ${text.length - MOST_CHARS} more characters`
    : text;
}

/** A text that is JSON, readable; any other as it is. */
export function prettyIfJson(text: string): { text: string; isJson: boolean } {
  if (text.length > MOST_CHARS || !/^\s*[[{]/.test(text)) return { text, isJson: false };
  try {
    return { text: deriveJson(JSON.parse(text)), isJson: true };
  } catch {
    return { text, isJson: false };
  }
}

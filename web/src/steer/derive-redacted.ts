/** What stands for a secret in everything that is kept: the secret itself is nowhere to be had. */
const REDACTED = /\[redacted:[^\]]*\]/;

/** What stands for a secret in a text, if something does. Whoever sends the text on would send that. */
export function redactedIn(text: string): string | null {
  return REDACTED.exec(text)?.[0] ?? null;
}

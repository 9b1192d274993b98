function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `web-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/**
 * The keys under which a dialog asks for a run: the same for the same wish, so that a double click or another try starts
 * one run. A wish that was changed is another one, and the server takes no key for two.
 */
export class StartKeys {
  private wish: string | null = null;
  private key = '';

  keyFor(wish: string): string {
    if (wish !== this.wish) {
      this.wish = wish;
      this.key = newKey();
    }
    return this.key;
  }
}

/** The key of this browser's login session. Local storage belongs to one origin, port included; a cookie would not. */
const NAME = 'ralph-session';

/** For a browser that keeps nothing: the login lasts as long as the page. */
let inMemory: string | null = null;

export const sessionKey = {
  read(): string | null {
    try {
      return localStorage.getItem(NAME) ?? inMemory;
    } catch {
      return inMemory;
    }
  },
  store(key: string): void {
    inMemory = key;
    try {
      localStorage.setItem(NAME, key);
    } catch {
      // It lasts as long as the page.
    }
  },
  clear(): void {
    inMemory = null;
    try {
      localStorage.removeItem(NAME);
    } catch {
      // There was none.
    }
  },
  /** Calls back when another tab logs in or out. */
  onChangeElsewhere(listener: () => void): void {
    addEventListener('storage', (event) => {
      if (event.key === NAME || event.key === null) listener();
    });
  },
};

/** The header that says who asks; none without a session. */
export function authorization(): Record<string, string> {
  const key = sessionKey.read();
  return key === null ? {} : { authorization: `Bearer ${key}` };
}

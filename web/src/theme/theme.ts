/** What a person chose; `system` follows the browser. */
export type ThemeChoice = 'system' | 'light' | 'dark';

const KEY = 'ralph.theme';
const listeners = new Set<() => void>();
const prefersDark = () => globalThis.matchMedia?.('(prefers-color-scheme: dark)');

function stored(): ThemeChoice {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system'; // Storage can be forbidden; then the choice lasts as long as the page.
  }
}

let choice = stored();

export function themeChoice(): ThemeChoice {
  return choice;
}

export function subscribeTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function chooseTheme(next: ThemeChoice): void {
  choice = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // See `stored`.
  }
  applyTheme();
  for (const listener of listeners) listener();
}

function applyTheme(): void {
  const isDark = choice === 'dark' || (choice === 'system' && (prefersDark()?.matches ?? false));
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
}

/** Applies the choice and follows the browser from now on. */
export function startTheme(): void {
  applyTheme();
  prefersDark()?.addEventListener('change', applyTheme);
}

/** Whether the server has said that this browser is not logged in. */
let isLoggedOut = false;
const listeners = new Set<() => void>();

export const loginState = {
  isLoggedOut: () => isLoggedOut,
  set(next: boolean): void {
    if (next === isLoggedOut) return;
    isLoggedOut = next;
    for (const listener of listeners) listener();
  },
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

import type { FromClient, RunRecord, ToClient } from '../wire';

export type { FromClient, RunRecord, ToClient };

/** What a text of the server says; null if it is none of its words. Words of a newer server are left alone. */
export function parseMessage(data: unknown): ToClient | null {
  if (typeof data !== 'string') return null;
  try {
    const message: unknown = JSON.parse(data);
    const isMessage = typeof message === 'object' && message !== null && 'type' in message;
    return isMessage ? (message as ToClient) : null;
  } catch {
    return null;
  }
}

import { api, unwrap } from '../api/client';
import type { Socket } from './connection';

/** Opens the WebSocket with a one-time ticket: a browser cannot send a header with it. */
export function openTicketSocket(): Socket {
  let real: WebSocket | null = null;
  let isClosed = false;
  const socket: Socket = {
    onopen: null,
    onmessage: null,
    onclose: null,
    onerror: null,
    send(text) {
      if (!real) throw new Error('The connection is not open yet.');
      real.send(text);
    },
    close() {
      isClosed = true;
      real?.close();
    },
  };
  const open = async () => {
    const { ticket } = await unwrap(api.POST('/api/v1/tickets'));
    if (isClosed) return;
    const address = new URL('/api/v1/stream', location.href);
    address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
    address.searchParams.set('ticket', ticket);
    real = new WebSocket(address);
    real.onopen = () => socket.onopen?.();
    real.onmessage = (event) => socket.onmessage?.(event);
    real.onclose = () => socket.onclose?.();
    real.onerror = () => socket.onerror?.();
  };
  open().catch(() => socket.onclose?.());
  return socket;
}

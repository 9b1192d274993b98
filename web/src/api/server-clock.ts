/** The server writes whole seconds. */
const COARSE_MS = 1_000;

/**
 * How far the server's clock is from the browser's. Each answer says within which bounds; together they are narrow.
 * Clocks that may be the same are taken to be the same.
 */
export class ServerClock {
  private least = Number.NEGATIVE_INFINITY;
  private most = Number.POSITIVE_INFINITY;

  /** An answer, asked for at `sent` and there at `received`, was written at `date` of the server's clock. */
  note(date: string | null, sent: number, received: number): void {
    const written = date === null ? Number.NaN : Date.parse(date);
    if (Number.isNaN(written)) return;
    const least = written - received;
    const most = written + COARSE_MS - sent;
    this.least = Math.max(this.least, least);
    this.most = Math.min(this.most, most);
    // One of the clocks was set: what was known before means nothing.
    if (this.least > this.most) [this.least, this.most] = [least, most];
  }

  /** What is to be added to the browser's time. */
  get offset(): number {
    if (this.least <= 0 && this.most >= 0) return 0;
    return Math.round((this.least + this.most) / 2);
  }
}

export const serverClock = new ServerClock();

/** The time as the server has it: what runs tell is told in it. */
export function serverNow(): number {
  return Date.now() + serverClock.offset;
}

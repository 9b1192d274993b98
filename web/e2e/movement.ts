import type { Visitor } from './visitor';

/** A row that somebody saw in one frame, and saw elsewhere in the next. */
export interface Move {
  seq: string;
  from: number;
  to: number;
}

type Watched = typeof globalThis & { __rows: { moves: Move[]; begun: number; told: number } };

/** From the next page on, notes what moves in the activity. Rows are placed by transforms, which the browser's own
 * measure of jumps leaves out. */
export async function watchRows(visitor: Visitor): Promise<void> {
  await visitor.page.addInitScript(() => {
    const watched = { moves: [] as Move[], begun: 0, told: 0 };
    Object.defineProperty(globalThis, '__rows', { value: watched });
    let before = new Map<string, number>();
    const look = () => {
      watched.begun += 1;
      const frame = watched.begun;
      const rows = document.querySelectorAll('article[data-seq]');
      // A new observer tells of all it observes in the same frame, after layout: of what is painted and nothing else.
      const observer = new IntersectionObserver((entries) => {
        observer.disconnect();
        const now = new Map<string, number>();
        for (const { target, isIntersecting, boundingClientRect } of entries) {
          if (isIntersecting) now.set(target.getAttribute('data-seq') ?? '', boundingClientRect.top);
        }
        for (const [seq, to] of now) {
          const from = before.get(seq);
          if (from !== undefined && Math.abs(to - from) > 1.5) watched.moves.push({ seq, from, to });
        }
        before = now;
        watched.told = frame;
      });
      for (const row of rows) observer.observe(row);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
}

/** What has moved since it was asked last; there must be rows. */
export function takeMoves(visitor: Visitor): Promise<Move[]> {
  return visitor.page.evaluate(async () => {
    const rows = (globalThis as Watched).__rows;
    const last = rows.begun + 2;
    while (rows.told < last) await new Promise((done) => requestAnimationFrame(done));
    return rows.moves.splice(0);
  });
}

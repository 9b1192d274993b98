import type { CDPSession } from 'playwright-core';
import type { Visitor } from '../e2e/visitor';

/** Looks into a page from outside, by the browser's own debugger. */
export class Probe {
  private constructor(private readonly session: CDPSession) {}

  static async of(visitor: Visitor): Promise<Probe> {
    const session = await visitor.context.newCDPSession(visitor.page);
    await session.send('Performance.enable');
    return new Probe(session);
  }

  private async metric(name: string): Promise<number> {
    const { metrics } = await this.session.send('Performance.getMetrics');
    return metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
  }

  /** For how many seconds the main thread has worked so far. */
  busySeconds(): Promise<number> {
    return this.metric('TaskDuration');
  }

  /** What the page's scripts hold, in MB. */
  async heap(): Promise<number> {
    return (await this.metric('JSHeapUsedSize')) / 1e6;
  }

  /** The same, without what nobody needs any more. */
  async heapAfterCollection(): Promise<number> {
    await this.session.send('HeapProfiler.enable');
    for (let round = 0; round < 3; round += 1) await this.session.send('HeapProfiler.collectGarbage');
    return this.heap();
  }
}

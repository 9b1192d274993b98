import type { Page } from 'playwright-core';

/** The line between a page and its server. What the server says can be held on it, as on one that is slow. */
export class Line {
  private held: (() => void)[] = [];
  private types: readonly string[] = [];

  /** Must be there before the page is opened. */
  static async to(page: Page): Promise<Line> {
    const line = new Line();
    await page.routeWebSocket(/\/api\/v1\/stream(\?|$)/, (socket) => {
      socket.connectToServer().onMessage((message) => {
        line.pass(String(message), () => socket.send(message));
      });
    });
    return line;
  }

  /** From now on messages of these types do not arrive. */
  hold(...types: string[]): void {
    this.types = types;
  }

  /** Everything arrives, also what was held. */
  release(): void {
    this.types = [];
    for (const send of this.held.splice(0)) send();
  }

  /** Everything arrives from now on; what was held is lost. */
  lose(): void {
    this.types = [];
    this.held = [];
  }

  private pass(message: string, send: () => void): void {
    const { type } = JSON.parse(message) as { type: string };
    if (this.types.includes(type)) this.held.push(send);
    else send();
  }
}

import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Server } from './server';

/** Long enough for a slow machine; who waits for what comes pays nothing for it. */
const PATIENCE_MS = 30_000;

/** The system's Chromium. */
export function openBrowser(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM_BIN ?? '/usr/bin/chromium';
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--enable-precise-memory-info'] });
}

export interface VisitOptions {
  width?: number;
  height?: number;
  theme?: 'light' | 'dark';
  isTouch?: boolean;
  /** Comes without a session. */
  isStranger?: boolean;
}

/** Something that moved though nobody touched it, by the browser's own measure. */
export interface Shift {
  value: number;
  /** What moved, and from where to where. */
  what: string;
}

/** A session, as it is in the storage of a browser. */
async function logIn(server: Server) {
  const { key } = await server.ask('POST', '/api/v1/login', { token: server.token });
  return { origin: server.url, localStorage: [{ name: 'ralph-session', value: key as string }] };
}

/** Somebody with a browser of their own. Whatever goes wrong in it is a fault, and a test with faults fails. */
export class Visitor {
  readonly faults: string[] = [];
  private readonly expected: RegExp[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    readonly url: string,
  ) {}

  static async come(browser: Browser, server: Server, options: VisitOptions = {}): Promise<Visitor> {
    const session = options.isStranger ? null : await logIn(server);
    const context = await browser.newContext({
      ...(session && { storageState: { cookies: [], origins: [session] } }),
      viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
      colorScheme: options.theme ?? 'dark',
      hasTouch: options.isTouch ?? false,
      isMobile: options.isTouch ?? false,
      reducedMotion: 'reduce',
      locale: 'en-GB',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const visitor = new Visitor(context, page, server.url);
    await visitor.watch();
    return visitor;
  }

  private async watch(): Promise<void> {
    const { context, page, faults } = this;
    await context.exposeFunction('__tellFault', (words: string) => faults.push(words));
    await context.addInitScript(() => {
      const tell = (words: string) =>
        (globalThis as unknown as { __tellFault: (words: string) => void }).__tellFault(words);
      addEventListener('securitypolicyviolation', (event) => {
        tell(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
      });
      const shifts: Shift[] = [];
      Object.defineProperty(globalThis, '__shifts', { value: shifts });
      const place = ({ x, y, width, height }: DOMRectReadOnly) => `${x},${y} ${width}×${height}`;
      type Source = { node: Node | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly };
      type Entry = PerformanceEntry & { value: number; hadRecentInput: boolean; sources: Source[] };
      new PerformanceObserver((list) => {
        for (const { value, hadRecentInput, sources } of list.getEntries() as Entry[]) {
          if (hadRecentInput) continue;
          const what = sources.map(({ node, previousRect, currentRect }) => {
            const words = node?.textContent?.trim().slice(0, 40);
            return `${node?.nodeName} “${words}” ${place(previousRect)} → ${place(currentRect)}`;
          });
          shifts.push({ value, what: what.join('; ') });
        }
      }).observe({ type: 'layout-shift', buffered: true });
      Object.defineProperty(globalThis, '__pwned', { value: (what: string) => tell(`executed: ${what}`) });
    });
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => faults.push(`page: ${error.message}`));
    page.on('dialog', (dialog) => {
      faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('popup', (popup) => faults.push(`popup: ${popup.url()}`));
    context.on('request', (request) => {
      const address = request.url();
      const isOwn = new URL(address).origin === this.url;
      if (!isOwn && !/^(blob|data):/.test(address)) faults.push(`foreign: ${address}`);
    });
  }

  /** Something that is a fault elsewhere belongs to this test: the browser itself complains of a lost server. */
  expectFault(pattern: RegExp): void {
    this.expected.push(pattern);
  }

  async go(path: string): Promise<void> {
    await this.page.goto(this.url + path);
  }

  /** The part of a run's page with what happened. */
  get activity(): Locator {
    return this.page.getByRole('region', { name: 'Activity' });
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name, exact: typeof name === 'string' });
  }

  /** Waits until somebody can see these words. */
  async sees(words: string | RegExp, within: Locator | Page = this.page): Promise<void> {
    await within.getByText(words).first().waitFor();
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /** How many elements the page has. */
  countNodes(): Promise<number> {
    return this.page.evaluate(() => document.getElementsByTagName('*').length);
  }

  /** Whether the page is wider than the window. */
  isTooWide(): Promise<boolean> {
    return this.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  }

  /** What has jumped since the page was opened. */
  shifts(): Promise<Shift[]> {
    return this.page.evaluate(() => (globalThis as unknown as { __shifts: Shift[] }).__shifts);
  }

  copied(): Promise<string> {
    return this.page.evaluate(() => navigator.clipboard.readText());
  }

  /** Goes, and says if anything was wrong. */
  async leave(): Promise<void> {
    await this.context.close();
    expect(this.faults.filter((fault) => !this.expected.some((each) => each.test(fault)))).toEqual([]);
  }
}

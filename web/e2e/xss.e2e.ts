import { expect, test } from 'vitest';
import { answered, asks, init, result, text, thinking, toolResult, toolUse } from './dialect';
import { JournalWriter } from './journal';
import { Script } from './script';
import { openTheatre } from './theatre';
import type { Visitor } from './visitor';
import { PAYLOADS } from './xss-corpus';

/** Runs of which nothing but the title is shown: in the list. */
const TITLES = 40;
const titled = (at: number) =>
  PAYLOADS.filter((_, index) => index % TITLES === at).map((each) => each.slice(0, 60));
const theatre = openTheatre((stage) => {
  for (let at = 0; at < TITLES; at += 1) {
    const id = `20260101-0000${String(at).padStart(2, '0')}-00000${(at % 16).toString(16)}`;
    new JournalWriter(stage, id, undefined, titled(at).join(' ')).end();
  }
});

/** What untrusted words must never become. */
async function faultsOfTheDocument({ page }: Visitor): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const allowed = new Set(['http:', 'https:', 'mailto:', 'blob:']);
    for (const element of document.querySelectorAll('*')) {
      const name = element.tagName.toLowerCase();
      if (/^(iframe|object|embed|base|frameset|applet|portal|marquee|math|video|audio)$/.test(name)) {
        found.push(`element ${name}`);
      }
      for (const attribute of element.attributes) {
        if (/^on/i.test(attribute.name)) found.push(`handler ${name} ${attribute.name}`);
        if (!/^(href|src|action|formaction|xlink:href|data|srcdoc|poster|srcset)$/.test(attribute.name))
          continue;
        const { protocol, origin } = new URL(attribute.value, location.href);
        if (!allowed.has(protocol)) found.push(`address ${name} ${attribute.value}`);
        if (name !== 'a' && origin !== location.origin) found.push(`loads ${name} ${attribute.value}`);
      }
    }
    return found;
  });
}

/**
 * Scrolls the list, and waits until every row that came into view is complete. A row whose card is still being loaded
 * is marked busy, and React replaces such rows only every 300 ms.
 */
async function movesOn({ activity }: Visitor, share: number): Promise<{ moved: number; left: number }> {
  return activity.evaluate(
    (list, part) =>
      new Promise<{ moved: number; left: number }>((done) => {
        const before = list.scrollTop;
        list.scrollBy(0, list.clientHeight * part);
        let [length, calm] = [-1, 0];
        const look = () => {
          const now = list.textContent?.length ?? 0;
          const isBusy = list.querySelector('[aria-busy="true"]') !== null;
          calm = now === length && !isBusy ? calm + 1 : 0;
          length = now;
          if (calm < 5) {
            requestAnimationFrame(look);
            return;
          }
          const { scrollTop, scrollHeight, clientHeight } = list;
          done({ moved: scrollTop - before, left: scrollHeight - clientHeight - scrollTop });
        };
        requestAnimationFrame(look);
      }),
    share,
  );
}

/** Everything that a run shows, from its beginning to its end, screen by screen. */
async function readsAll(visitor: Visitor, wanted: RegExp): Promise<Set<string>> {
  const seen = new Set<string>();
  const { activity, page } = visitor;
  await activity.hover({ position: { x: 5, y: 50 } });
  await visitor.sees(wanted, activity);
  await movesOn(visitor, 0);
  for (;;) {
    const words = (await activity.textContent()) ?? '';
    for (const [word] of words.matchAll(new RegExp(wanted, 'g'))) seen.add(word);
    expect(await faultsOfTheDocument(visitor)).toEqual([]);
    // The list stays where it was sent until a person moves it.
    await page.mouse.wheel(0, 20);
    const place = await movesOn(visitor, 0.4);
    if (place.moved > 1 || place.left > 1) continue;
    if ((await page.getByRole('button', { name: /^(Show later|Loading…)$/ }).count()) === 0) return seen;
  }
}

test('the corpus is large, and each payload is another', () => {
  expect(PAYLOADS.length).toBeGreaterThanOrEqual(300);
});

test('a guard that sees nothing would prove nothing', async () => {
  const visitor = await theatre.visit();
  await visitor.go('/');
  await visitor.page.getByRole('heading', { name: 'Runs' }).waitFor();
  await visitor.page.evaluate(() => {
    (globalThis as unknown as { __pwned: (what: string) => void }).__pwned('a test');
    const picture = document.createElement('img');
    picture.src = 'https://evil.example/pixel.png';
    document.body.append(picture);
    try {
      document.body.innerHTML = '<p>';
    } catch {
      // The policy has refused it.
    }
    // biome-ignore lint/suspicious/noConsole: that it is seen is what is tested.
    console.error('told');
  });
  for (const kind of [
    'executed: a test',
    'policy: img-src',
    'policy: require-trusted-types-for',
    'console: told',
  ]) {
    await expect
      .poll(() => visitor.faults.some((fault) => fault.startsWith(kind)), { message: kind })
      .toBe(true);
  }
  expect(await visitor.page.getByRole('heading', { name: 'Runs' }).count()).toBe(1);
  visitor.expectFault(/./);
});

test('what an agent writes is text: as words and as thoughts', async () => {
  const { stage, server, visit } = theatre;
  const script = new Script().readLine().emit(init());
  PAYLOADS.forEach((payload, at) => {
    if (at % 40 === 0) script.emit(thinking(payload));
    script.emit(text(`${payload}\n\nmark-${at}.`));
  });
  script.emit(result(PAYLOADS.slice(0, 50).join('\n'))).exit(0);
  const run = await server.start(stage.workspace('words', script), {
    prompt: titled(0).join('\n').replaceAll('\0', ''),
  });
  await server.becomes(run, 'ended');
  const visitor = await visit({ height: 4_000 });
  await visitor.go(`/runs/${run}?seq=1`);
  await visitor.sees('Iteration 1', visitor.activity);
  expect((await readsAll(visitor, /mark-\d+\./)).size).toBe(PAYLOADS.length);
});

test('what tools are given and give is text: arguments, outputs, names of files and of servers', async () => {
  const { stage, server, visit } = theatre;
  const script = new Script()
    .readLine()
    .emit(init({ mcp_servers: [{ name: PAYLOADS[0], status: PAYLOADS[1] }] }));
  const tools: ((payload: string, mark: string) => [string, unknown])[] = [
    (payload, mark) => ['Bash', { command: `${mark} ${payload}`, description: payload }],
    (payload, mark) => [
      'Edit',
      { file_path: `/${mark}/${payload}`, old_string: payload, new_string: `${payload}.` },
    ],
    (payload, mark) => ['Read', { file_path: `/${mark}/${payload}` }],
    (payload, mark) => [`mcp__${mark}__${payload.replaceAll('__', '')}`, { [payload]: payload }],
    (payload, mark) => ['WebFetch', { url: payload, prompt: `${mark} ${payload}` }],
    (payload, mark) => [
      'Task',
      { description: `${mark} ${payload}`, prompt: payload, subagent_type: payload },
    ],
    (payload, mark) => [
      'TodoWrite',
      { todos: [{ content: `${mark} ${payload}`, status: 'pending', activeForm: payload }] },
    ],
    (payload, mark) => [`${mark} ${payload}`, { anything: payload }],
  ];
  PAYLOADS.forEach((payload, at) => {
    const [name, input] = (tools[at % tools.length] ?? (() => ['Bash', {}]))(payload, `mark-${at}.`);
    const twin = {
      filePath: `/${payload}`,
      structuredPatch: [
        { oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: [`-${payload}`, `+${payload}`] },
      ],
    };
    // A call that failed is shown open.
    script.emit(
      toolUse(`call-${at}`, name, input),
      toolResult(`call-${at}`, payload, { isError: at % 3 !== 0 || name === 'WebFetch', twin }),
    );
  });
  script.emit(
    result(PAYLOADS[2], { subtype: 'error_during_execution', is_error: true, errors: PAYLOADS.slice(0, 30) }),
  );
  const run = await server.start(stage.workspace('tools', script.exit(1)));
  await server.becomes(run, 'ended');
  const visitor = await visit({ height: 4_000 });
  await visitor.go(`/runs/${run}?seq=1`);
  await visitor.sees('Iteration 1', visitor.activity);
  expect((await readsAll(visitor, /mark-\d+\./)).size).toBe(PAYLOADS.length);
  await visitor.go(`/runs/${run}?view=files`);
  await visitor.sees(/files changed/);
  expect(await faultsOfTheDocument(visitor)).toEqual([]);
});

test('what an agent asks is text, too', async () => {
  const { stage, server, visit } = theatre;
  const some = PAYLOADS.filter((_, at) => at % 12 === 0);
  const all = some.join('\n');
  const options = some.slice(0, 8).map((label, at) => ({ label: `${at} ${label}`, description: label }));
  const question = { question: all, header: some[1], multiSelect: true, options };
  const script = new Script()
    .readLine()
    .emit(init())
    .emit(asks('a', 'Bash', { command: all, description: some[0] }))
    .emit(asks('b', `mcp__${some[0]}__x`, { [some[2] ?? 'x']: all }))
    .emit(asks('c', 'Write', { file_path: some[3], content: all }))
    .emit(asks('d', 'AskUserQuestion', { questions: [question] }))
    .emit(asks('e', 'ExitPlanMode', { plan: some.join('\n\n') }));
  for (const request of ['a', 'b', 'c', 'd', 'e']) script.expectLine(answered(request));
  const run = await server.start(stage.workspace('asks', script.emit(result()).exit(0)));
  await server.becomes(run, 'waiting');
  const visitor = await visit({ height: 4_000 });
  await visitor.go(`/runs/${run}`);
  await visitor.sees('5 requests, the oldest first');
  await visitor.button('Edit input…').first().click();
  expect(await faultsOfTheDocument(visitor)).toEqual([]);
  await visitor.go('/');
  await visitor.sees('Needs you');
  expect(await faultsOfTheDocument(visitor)).toEqual([]);
});

test('titles, and what is looked for, are text', async () => {
  const visitor = await theatre.visit({ height: 4_000 });
  await visitor.go('/');
  await expect.poll(() => visitor.page.locator('a[data-run]').count()).toBeGreaterThan(TITLES);
  expect(await faultsOfTheDocument(visitor)).toEqual([]);
  const id = '20260101-000001-000001';
  for (const payload of PAYLOADS.filter((_, at) => at % 60 === 0)) {
    await visitor.go(`/runs/${id}?find=${encodeURIComponent(JSON.stringify(payload))}`);
    await visitor.page.getByRole('searchbox').waitFor();
    expect(await faultsOfTheDocument(visitor)).toEqual([]);
  }
});

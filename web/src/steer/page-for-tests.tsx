import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { render } from '@testing-library/react';
import type { ReactNode } from 'react';
import { vi } from 'vitest';
import { ARMING } from './arming';

// Tests of the arming itself set it; all others answer at once.
ARMING.quietMs = 0;

/** Nothing is laid out in tests: everything is in view at once. */
export class EverythingIsInView {
  private readonly tell: IntersectionObserverCallback;
  constructor(tell: IntersectionObserverCallback) {
    this.tell = tell;
  }
  observe() {
    this.tell([{ isIntersecting: true } as IntersectionObserverEntry], this as never);
  }
  disconnect() {}
}
vi.stubGlobal('IntersectionObserver', EverythingIsInView);

type Answers = Record<string, (body: unknown, headers: Headers) => unknown>;

/** Answers what the page asks, by method and path; what is not named is not there. */
export function serve(answers: Answers): string[] {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    const what = `${request.method} ${new URL(request.url).pathname}`;
    const text = request.method === 'GET' ? '' : await request.clone().text();
    asked.push(what);
    const answer = answers[what]?.(text ? JSON.parse(text) : undefined, request.headers);
    const headers = { 'content-type': 'application/json' };
    if (answer === undefined) return new Response('{}', { status: 404, headers });
    if (answer instanceof Response) return answer;
    return new Response(JSON.stringify(answer), { status: 200, headers });
  });
  return asked;
}

/** A refusal of the server. */
export function problem(status: number, code: string, detail: string, more: object = {}): Response {
  return new Response(JSON.stringify({ code, detail, status, ...more }), {
    status,
    headers: { 'content-type': 'application/problem+json' },
  });
}

/** Shows something as a page of its own would, with addresses to go to. */
export async function show(element: ReactNode) {
  const root = createRootRoute();
  const routeTree = root.addChildren([
    createRoute({ getParentRoute: () => root, path: '/', component: () => element }),
    createRoute({ getParentRoute: () => root, path: '/runs/$id', component: () => <p>The run’s page</p> }),
  ]);
  const history = createMemoryHistory({ initialEntries: ['/'] });
  const router = createRouter({ routeTree, history });
  await router.load();
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const view = render(
    <QueryClientProvider client={queries}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return { ...view, history, queries };
}

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { Layout } from './layout/Layout';
import { NotFound } from './layout/NotFound';
import { PageError } from './layout/PageError';
import { parseRunSearch } from './run/search-params';
import { parseRunsSearch } from './runs/search-params';

const rootRoute = createRootRoute({
  component: Layout,
  notFoundComponent: () => <NotFound />,
  errorComponent: PageError,
});

export const runsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  validateSearch: parseRunsSearch,
  component: lazyRouteComponent(() => import('./runs/RunsPage'), 'RunsPage'),
});

/** A short address for the dialog, which stands over the list. */
const newRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/new',
  beforeLoad: ({ search }) => {
    throw redirect({ to: '/', search: { ...parseRunsSearch(search), new: 1 }, replace: true });
  },
});

/** A login link whose code was used, or one without a code. */
const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login',
  beforeLoad: () => {
    throw redirect({ to: '/', replace: true });
  },
});

export const runRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs/$id',
  validateSearch: parseRunSearch,
  component: lazyRouteComponent(() => import('./run/RunPage'), 'RunPage'),
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([runsRoute, newRoute, loginRoute, runRoute]),
  defaultErrorComponent: PageError,
  defaultPreload: false,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

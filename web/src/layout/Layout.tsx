import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { Hand, Keyboard, LogOut } from 'lucide-react';
import { Suspense, useState, useSyncExternalStore } from 'react';
import { loginState } from '../api/login-state';
import { KeysOverlay } from '../keys/KeysOverlay';
import { useKey } from '../keys/use-key';
import { useCatchUp } from '../runs/use-catch-up';
import { useConnection, useInbox } from '../stream/browser';
import { ThemeSwitch } from '../theme/ThemeSwitch';
import { LoggedOut } from './LoggedOut';
import { lazyPart } from './lazy-part';
import { ReconnectBanner } from './ReconnectBanner';
import { useTitleBadge } from './use-title';

const SessionsDialog = lazyPart(async () => (await import('./SessionsDialog')).SessionsDialog);

/** What stands around every page. */
export function Layout() {
  const isLoggedOut = useSyncExternalStore(loginState.subscribe, loginState.isLoggedOut);
  const connection = useConnection();
  if (isLoggedOut || connection.is === 'logged_out') return <LoggedOut />;
  return <Frame />;
}

function Frame() {
  const [showsKeys, setShowsKeys] = useState(false);
  const [showsSessions, setShowsSessions] = useState(false);
  const navigate = useNavigate();
  const { count } = useInbox();
  useCatchUp();
  useTitleBadge(count);
  useKey('help', () => setShowsKeys((shown) => !shown));
  useKey('runs', () => void navigate({ to: '/' }));
  useKey('newRun', () => void navigate({ to: '/', search: { new: 1 } }));
  return (
    <div className="flex h-full flex-col">
      <header className="flex shrink-0 items-center gap-2 border-line border-b px-3 py-1">
        <Link
          to="/"
          className="rounded px-1 font-semibold text-base"
          activeOptions={{ exact: true, includeSearch: false }}
        >
          ralph
        </Link>
        <span className="flex-1" />
        {count > 0 && (
          <Link to="/" search={{ state: 'waiting' }} className="chip bg-warn-soft text-warn">
            <Hand aria-hidden className="size-3.5" />
            {count === 1 ? '1 waits for you' : `${count} wait for you`}
          </Link>
        )}
        <ThemeSwitch />
        <button
          type="button"
          className="button"
          data-quiet
          onClick={() => setShowsSessions(true)}
          title="Login sessions"
        >
          <LogOut aria-hidden className="size-4" />
          <span className="sr-only">Log out</span>
        </button>
        <button
          type="button"
          className="button max-sm:hidden"
          data-quiet
          onClick={() => setShowsKeys(true)}
          title="Keys (?)"
        >
          <Keyboard aria-hidden className="size-4" />
          <span className="sr-only">Show all keys</span>
        </button>
      </header>
      <div className="relative min-h-0 flex-1">
        <main className="h-full">
          <Outlet />
        </main>
        <ReconnectBanner />
      </div>
      {showsSessions && (
        <Suspense>
          <SessionsDialog onClose={() => setShowsSessions(false)} />
        </Suspense>
      )}
      <KeysOverlay isOpen={showsKeys} onClose={() => setShowsKeys(false)} />
    </div>
  );
}

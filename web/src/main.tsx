import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { askEarly } from './api/early-page';
import { logInByAddress } from './api/login';
import { newQueries } from './api/queries';
import { sessionKey } from './api/session-key';
import { repairAddress } from './repair-address';
import { router } from './router';
import { startStream } from './stream/browser';
import { startTheme } from './theme/theme';
import './theme/page.css';

repairAddress();
startTheme();

async function start(root: HTMLElement): Promise<void> {
  await logInByAddress();
  askEarly(location.pathname, location.search);
  startStream();
  // Another tab has logged in or out.
  sessionKey.onChangeElsewhere(() => location.reload());
  const queries = newQueries();
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}

const root = document.getElementById('root');
if (root) void start(root);

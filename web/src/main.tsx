import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { askEarly } from './api/early-page';
import { newQueries } from './api/queries';
import { router } from './router';
import { startStream } from './stream/browser';
import { startTheme } from './theme/theme';
import './theme/page.css';

askEarly(location.pathname, location.search);
startTheme();
startStream();

const queries = newQueries();
const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}

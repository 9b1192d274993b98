import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { callOf } from './cards/calls-for-tests';
import { calls, markdownText } from './cards/gallery-calls';
import { ToolCard } from './cards/registry';
import { Markdown } from './markdown/Markdown';
import './theme/page.css';

const shown = calls.map((parts, seq) =>
  callOf({ startedAt: new Date(Date.now() - 4_000).toISOString(), ...parts, seq }),
);

/** All cards in all states, to be looked at: `npm run dev`, then /gallery.html. No part of what is built. */
function Gallery() {
  const [theme, setTheme] = useState(new URLSearchParams(location.search).get('theme') ?? 'dark');
  document.documentElement.dataset.theme = theme;
  return (
    <main className="mx-auto flex max-w-4xl flex-col gap-2 p-3">
      <button
        type="button"
        className="button self-start"
        onClick={() => setTheme(theme === 'dark' ? 'light' : 'dark')}
      >
        {theme}
      </button>
      <Markdown text={markdownText} />
      {shown.map((call) => (
        <ToolCard key={call.seq} call={call} run="gallery" />
      ))}
    </main>
  );
}

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Gallery />
    </StrictMode>,
  );
}

import { StrictMode, useEffect, useState } from 'react';
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
      <Growing />
      <Markdown text={markdownText} />
      {shown.map((call) => (
        <ToolCard key={call.seq} call={call} run="gallery" />
      ))}
    </main>
  );
}

/** A text that grows by a thousand pieces a second. */
function Growing() {
  const [length, setLength] = useState(-1);
  const whole = markdownText.repeat(60);
  const isStreaming = length >= 0 && length < whole.length;
  useEffect(() => {
    if (!isStreaming) return;
    const timer = setInterval(() => setLength((before) => before + 80), 16);
    return () => clearInterval(timer);
  }, [isStreaming]);
  return (
    <>
      <button type="button" className="button self-start" onClick={() => setLength(0)}>
        Stream a text
      </button>
      {length >= 0 && <Markdown text={whole.slice(0, length)} isStreaming={isStreaming} />}
    </>
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

import { type ComponentType, lazy, Suspense } from 'react';
import type { ToolCall } from '../tool-call';
import { GenericCard } from './GenericCard';

type MarkdownPart = ComponentType<{ text: string; isStreaming: boolean }>;
type CardPart = ComponentType<{ call: ToolCall; run: string }>;

const found = {
  markdown: import.meta.glob<{ Markdown: MarkdownPart }>('../../markdown/Markdown.tsx'),
  cards: import.meta.glob<{ ToolCard: CardPart }>('../../cards/registry.tsx'),
};

function Plain({ text }: { text: string; isStreaming: boolean }) {
  return <div className="whitespace-pre-wrap">{text}</div>;
}

/** Markdown and cards are loaded when the first of them is shown. Until then their text stands there plainly. */
const LazyMarkdown = lazy<MarkdownPart>(async () => {
  const module = await Object.values(found.markdown)[0]?.();
  return { default: module?.Markdown ?? Plain };
});

export function Markdown({ text, isStreaming }: { text: string; isStreaming: boolean }) {
  return (
    <Suspense fallback={<Plain text={text} isStreaming={isStreaming} />}>
      <LazyMarkdown text={text} isStreaming={isStreaming} />
    </Suspense>
  );
}

const LazyToolCard = lazy<CardPart>(async () => {
  const module = await Object.values(found.cards)[0]?.();
  return { default: module?.ToolCard ?? GenericCard };
});

export function ToolCard({ call, run }: { call: ToolCall; run: string }) {
  return (
    <Suspense fallback={<GenericCard call={call} />}>
      <LazyToolCard call={call} run={run} />
    </Suspense>
  );
}

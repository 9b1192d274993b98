import { type ComponentType, Suspense } from 'react';
import { lazyPart } from '../../layout/lazy-part';
import type { RawRef, ToolCall } from '../tool-call';
import { GenericCard } from './GenericCard';

type MarkdownPart = ComponentType<{ text: string; isStreaming: boolean }>;
type CardPart = ComponentType<{ call: ToolCall; run: string }>;

/** Markdown and cards are loaded when the first of them is shown. Until then a plain, busy form is shown. */
const LazyMarkdown = lazyPart(async (): Promise<MarkdownPart> => {
  const { Markdown, Blocks } = await import('../../markdown/Markdown');
  void Blocks.preload();
  return Markdown;
});

export function Markdown({ text, isStreaming }: { text: string; isStreaming: boolean }) {
  return (
    <Suspense
      fallback={
        <div aria-busy className="whitespace-pre-wrap">
          {text}
        </div>
      }
    >
      <LazyMarkdown text={text} isStreaming={isStreaming} />
    </Suspense>
  );
}

interface RawPagesProps {
  run: string;
  raw: RawRef;
  why: string;
  isOpen?: boolean;
}

const LazyRawPages = lazyPart(
  async (): Promise<ComponentType<RawPagesProps>> => (await import('../../cards/RawPages')).RawPages,
);

export function RawPages(props: RawPagesProps) {
  return (
    <Suspense
      fallback={
        <p aria-busy className="text-muted text-xs">
          Loading…
        </p>
      }
    >
      <LazyRawPages {...props} />
    </Suspense>
  );
}

const LazyToolCard = lazyPart(async (): Promise<CardPart> => (await import('../../cards/registry')).ToolCard);

export function ToolCard({ call, run }: { call: ToolCall; run: string }) {
  return (
    <Suspense
      fallback={
        <div aria-busy>
          <GenericCard call={call} />
        </div>
      }
    >
      <LazyToolCard call={call} run={run} />
    </Suspense>
  );
}

/** Every run has texts and calls: whoever opens one needs their parts, while its records are still on their way. */
export function preloadParts(): void {
  void LazyMarkdown.preload();
  void LazyToolCard.preload();
}

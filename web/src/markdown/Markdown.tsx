import { Component, type ReactNode, Suspense } from 'react';
import { lazyPart } from '../layout/lazy-part';
import { PlainText } from './PlainText';

export const Blocks = lazyPart(async () => (await import('./Blocks')).Blocks);

interface MarkdownProps {
  text: string;
  isStreaming?: boolean;
}

/** A text with Markdown in it. It is readable before the parser is there, and when the parser fails. */
export function Markdown({ text, isStreaming = false }: MarkdownProps) {
  const plain = <PlainText text={text} />;
  return (
    <Fallback plain={plain}>
      <Suspense fallback={<div aria-busy>{plain}</div>}>
        <Blocks text={text} isStreaming={isStreaming} />
      </Suspense>
    </Fallback>
  );
}

class Fallback extends Component<{ plain: ReactNode; children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.plain : this.props.children;
  }
}

import { memo, useMemo, useRef } from 'react';
import { CodeView } from '../code/CodeView';
import { type Block, BlockSplitter, hasDefinitions } from './derive-blocks';
import { affordable, estimateCost, MOST_BLOCK_COST, MOST_CHARS } from './derive-cost';
import './markdown.css';
import { PlainText } from './PlainText';
import { renderBlock } from './render-block';
import { useThrottled } from './use-throttled';

interface BlocksProps {
  text: string;
  isStreaming: boolean;
}

/** A text in blocks, of which only those that changed are parsed again. */
export function Blocks({ text, isStreaming }: BlocksProps) {
  return <BlockList text={useThrottled(text, isStreaming)} isStreaming={isStreaming} />;
}

/** Remembered, so that a piece that is not told yet costs nothing. */
const BlockList = memo(function BlockList({ text, isStreaming }: BlocksProps) {
  const splitter = useRef<BlockSplitter>(null);
  splitter.current ??= new BlockSplitter();
  const { current } = splitter;
  const blocks = useMemo(() => {
    if (isStreaming || !hasDefinitions(text)) return current.split(text);
    return [{ start: 0, text, code: null, cost: estimateCost(text) }];
  }, [text, isStreaming, current]);
  if (text.length > MOST_CHARS) return <PlainText text={text} isNoted />;
  const count = affordable(blocks);
  const rest = blocks[count];
  return (
    <div className="markdown">
      {blocks.slice(0, count).map((block, at) => (
        <OneBlock key={block.start} block={block} isFinal={!isStreaming || at < blocks.length - 1} />
      ))}
      {rest && <PlainText text={text.slice(rest.start)} isNoted />}
    </div>
  );
});

interface OneBlockProps {
  block: Block;
  isFinal: boolean;
}

const OneBlock = memo(function OneBlock({ block, isFinal }: OneBlockProps) {
  if (block.code) {
    return (
      <CodeView
        text={block.text}
        language={block.code.language}
        firstLine={null}
        isPlain={!isFinal}
        maxLines={200}
      />
    );
  }
  if (block.cost > MOST_BLOCK_COST) return <PlainText text={block.text} isNoted />;
  return renderBlock(block.text, isFinal);
});

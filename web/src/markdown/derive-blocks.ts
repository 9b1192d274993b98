import { estimateCost } from './derive-cost';

/** A piece of a Markdown text that stands for itself. */
export interface Block {
  /** Where it starts in the text: the same block keeps it while the text grows. */
  start: number;
  text: string;
  /** A fenced block of code: its text is the code, and it needs no parser. */
  code: { language: string } | null;
  /** Roughly how long a parser takes, in milliseconds. */
  cost: number;
}

const FENCE = /^( {0,3})(`{3,}|~{3,})(.*)$/;
const LIST = /^([-*+]|\d{1,9}[.)])(\s|$)/;

interface Fence {
  mark: string;
  /** Whether it is a block by itself, not part of a list or a quote. */
  isBlock: boolean;
}

function fenceOf(line: string): { fence: Fence; language: string } | null {
  const [, indent = '', mark = '', info = ''] = FENCE.exec(line) ?? [];
  if (mark === '' || (mark[0] === '`' && info.includes('`'))) return null;
  return { fence: { mark, isBlock: indent === '' }, language: info.trim() };
}

function closes(line: string, { mark }: Fence): boolean {
  const found = /^ {0,3}(`{3,}|~{3,})[ \t\r]*$/.exec(line)?.[1];
  return found !== undefined && found[0] === mark[0] && found.length >= mark.length;
}

/** Splits a text at blank lines and around fences. Joined in order, the blocks are the text but for blank lines. */
export function splitBlocks(text: string, from = 0): Block[] {
  const blocks: Block[] = [];
  let start = from;
  let end = from;
  let isList = false;
  let isAfterBlank = false;
  let fence: Fence | null = null;
  let language = '';
  const close = (next: number) => {
    const piece = text.slice(start, end);
    if (piece.trim() !== '') blocks.push({ start, text: piece, code: null, cost: estimateCost(piece) });
    start = next;
    end = next;
    isList = false;
  };
  const closeCode = (last: number, next: number) => {
    const opening = text.indexOf('\n', start);
    const code = opening < 0 ? '' : text.slice(opening + 1, Math.max(opening + 1, last));
    blocks.push({ start, text: code, code: { language }, cost: 0 });
    start = next;
    end = next;
    isList = false;
  };
  for (let at = from; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const next = newline < 0 ? text.length : newline + 1;
    const line = text.slice(at, newline < 0 ? text.length : newline);
    if (fence) {
      if (closes(line, fence)) {
        if (fence.isBlock) closeCode(at, next);
        fence = null;
      }
      if (start < next) end = next;
      isAfterBlank = false;
    } else if (line.trim() === '') {
      isAfterBlank = true;
    } else {
      const opened = fenceOf(line);
      const isMarker = LIST.test(line);
      const isIndented = /^[ \t]/.test(line);
      if (opened?.fence.isBlock || (isAfterBlank && !isIndented && !(isList && isMarker))) close(at);
      if (end === start) isList = isMarker;
      if (opened) {
        fence = opened.fence;
        language = opened.language;
      }
      isAfterBlank = false;
      end = next;
    }
    at = next;
  }
  if (fence?.isBlock) closeCode(text.length, text.length);
  else close(text.length);
  return blocks;
}

/** Whether blocks depend on each other: links whose address is elsewhere, footnotes. */
export function hasDefinitions(text: string): boolean {
  return /^ {0,3}\[[^\]\n]{1,200}\]:/m.test(text);
}

/** Splits a text that grows at its end; what is complete is not looked at again. */
export class BlockSplitter {
  #text = '';
  #blocks: Block[] = [];

  split(text: string): Block[] {
    if (text === this.#text) return this.#blocks;
    // What comes can join the last block with the one before it, such as the second item of a list.
    const kept = text.startsWith(this.#text) ? this.#blocks.slice(0, -2) : [];
    const from = kept.length > 0 ? (this.#blocks[kept.length]?.start ?? 0) : 0;
    const before = new Map(this.#blocks.slice(kept.length).map((block) => [block.start, block]));
    const split = splitBlocks(text, from).map((block) => {
      const known = before.get(block.start);
      return known && known.text === block.text && known.code?.language === block.code?.language
        ? known
        : block;
    });
    this.#blocks = [...kept, ...split];
    this.#text = text;
    return this.#blocks;
  }
}

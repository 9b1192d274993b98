import { fetchRaw, MOST_RAW_BYTES } from '../api/raw';
import type { RawRef } from '../run/tool-call';

/** So much is asked for at once. */
export const PIECE_BYTES = 1_000_000;

export interface Piece {
  text: string;
  /** Where the next piece begins. */
  next: number;
}

const encoder = new TextEncoder();

/** One piece of a raw line. A character that the end of the piece cuts belongs to the next one. */
export async function loadPiece(
  run: string,
  ref: RawRef,
  offset: number,
  signal?: AbortSignal,
): Promise<Piece> {
  const end = ref.offset + ref.length;
  const length = Math.min(PIECE_BYTES, end - offset);
  const text = await fetchRaw(run, { ...ref, offset, length }, signal);
  if (offset + length >= end) return { text, next: end };
  const whole = text.replace(/\ufffd{1,3}$/, '');
  // Text that is nothing but broken characters is taken as it is, or it would be asked for without end.
  return whole === ''
    ? { text, next: offset + length }
    : { text: whole, next: offset + encoder.encode(whole).length };
}

/** A whole raw line, piece by piece. `tell` gets the share that is there, from 0 to 1. */
export async function loadRaw(
  run: string,
  ref: RawRef,
  tell: (share: number) => void,
  signal?: AbortSignal,
): Promise<string> {
  if (ref.length > MOST_RAW_BYTES) throw new Error('too long to be shown at once');
  const pieces: string[] = [];
  const end = ref.offset + ref.length;
  for (let at = ref.offset; at < end; ) {
    const piece = await loadPiece(run, ref, at, signal);
    pieces.push(piece.text);
    at = Math.max(piece.next, at + 1);
    tell(Math.min(1, (at - ref.offset) / ref.length));
  }
  return pieces.join('');
}

import { afterEach, expect, test, vi } from 'vitest';
import { deriveBlob, derivePictures, fullOutput, isPicture } from './derive-raw-result';
import { loadPiece, loadRaw, PIECE_BYTES } from './load-raw';

afterEach(() => vi.unstubAllGlobals());

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const line = (content: unknown) =>
  JSON.stringify({
    type: 'user',
    message: {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'other', content: 'no' },
        { type: 'tool_result', tool_use_id: 'a', content },
      ],
    },
  });

test('the whole output is found in the agent’s own words', () => {
  expect(fullOutput(line('all of it'), 'a')).toBe('all of it');
  expect(
    fullOutput(line([{ type: 'text', text: 'x' }, { type: 'image' }, { type: 'text', text: 'y' }]), 'a'),
  ).toBe('x\ny');
  expect(fullOutput('{"item":{"aggregated_output":"z"}}', 'a')).toBe('z');
  expect(fullOutput('{"type":"tool_result","output":"w"}', 'a')).toBe('w');
  expect(fullOutput('no json', 'a')).toBeNull();
  expect(fullOutput('null', 'a')).toBeNull();
});

test('pictures are found, and only those that are what they say', async () => {
  const source = { type: 'base64', media_type: 'image/png', data: PNG };
  const raw = line([
    { type: 'image', source },
    { type: 'image', source: { ...source, media_type: 'image/svg+xml' } },
  ]);
  const pictures = derivePictures(raw, 'a');
  expect(pictures.map((picture) => picture.mediaType)).toEqual(['image/png', 'image/svg+xml']);
  const blobs = pictures.map(deriveBlob);
  expect(blobs[0]).toBeInstanceOf(Blob);
  expect(blobs[1]).toContain('are not shown');
  expect(deriveBlob({ mediaType: 'image/png', base64: btoa('<svg onload=alert(1)>') })).toContain('broken');
  expect(deriveBlob({ mediaType: 'image/png', base64: '%%%' })).toContain('no base64');
  expect(
    derivePictures('{"content":[{"type":"image","mimeType":"image/gif","data":"R0lG"}]}', 'a'),
  ).toHaveLength(1);
});

test('an attachment in words tells whether it is a picture', () => {
  expect(isPicture('image/png, 1234 bytes')).toBe(true);
  expect(isPicture('image/svg+xml, 12 bytes')).toBe(false);
  expect(isPicture('document, 0 bytes')).toBe(false);
  expect(isPicture('')).toBe(false);
});

/** A server that has one file. */
function serve(text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (address: string, options?: RequestInit) => {
    const range = new Headers(options?.headers).get('range') ?? '';
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(range) ?? [];
    if (from === undefined) return new Response(JSON.stringify({ records: [] }), { status: 200 });
    asked.push(`${address} ${range}`);
    return new Response(bytes.slice(Number(from), Number(to) + 1), { status: 206 });
  });
  return asked;
}

vi.mock('../api/records', () => ({ fetchAllRecords: async () => ({ records: [], isComplete: true }) }));

test('a long line is loaded piece by piece, and no character is cut', async () => {
  const text = `a${'é🎉→'.repeat(300_000)}`;
  const asked = serve(text);
  const length = new TextEncoder().encode(text).length;
  const shares: number[] = [];
  const loaded = await loadRaw('r', { iteration: 1, attempt: 1, offset: 0, length }, (share) =>
    shares.push(share),
  );
  expect(loaded === text).toBe(true);
  expect(asked.length).toBe(Math.ceil(length / PIECE_BYTES));
  expect(shares.at(-1)).toBe(1);
});

test('bytes that are no text are not asked for without end', async () => {
  const ref = { iteration: 1, attempt: 1, offset: 0, length: 3 * PIECE_BYTES };
  vi.stubGlobal('fetch', async () => new Response(new Uint8Array([0xff, 0xfe]), { status: 206 }));
  const piece = await loadPiece('r', ref, 0);
  expect(piece.next).toBe(PIECE_BYTES);
});

test('a line that is too long is not loaded at once', async () => {
  const ref = { iteration: 1, attempt: 1, offset: 0, length: 1_000_000_000 };
  await expect(loadRaw('r', ref, () => {})).rejects.toThrow('too long');
});

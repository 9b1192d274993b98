/** A picture in the agent's own words. */
export interface Picture {
  mediaType: string;
  base64: string;
}

const TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const MOST_NODES = 200_000;

type Node = Record<string, unknown>;

/** All objects in a value, those outside first. */
function* objects(value: unknown): Generator<Node> {
  const open: unknown[] = [value];
  for (let at = 0; at < open.length && at < MOST_NODES; at += 1) {
    const next = open[at];
    if (typeof next !== 'object' || next === null) continue;
    if (!Array.isArray(next)) yield next as Node;
    for (const child of Object.values(next))
      if (typeof child === 'object' && child !== null) open.push(child);
  }
}

function parse(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return null;
  }
}

/** The part of a raw line that is the result of a call, if it names the call. */
function resultOf(line: unknown, item: string): unknown {
  for (const node of objects(line)) if (node.tool_use_id === item) return node;
  return line;
}

/** The whole output of a call in its raw line, or null where it cannot be found. */
export function fullOutput(raw: string, item: string): string | null {
  const result = resultOf(parse(raw), item);
  for (const node of objects(result)) {
    for (const key of ['content', 'aggregated_output', 'output']) {
      const value = node[key];
      if (typeof value === 'string') return value;
      if (Array.isArray(value)) {
        const texts = value.flatMap((block: unknown) =>
          typeof block === 'object' && block !== null && 'text' in block && typeof block.text === 'string'
            ? [block.text]
            : [],
        );
        if (texts.length > 0) return texts.join('\n');
      }
    }
  }
  return null;
}

/** The pictures in the raw line of a call, in order. */
export function derivePictures(raw: string, item: string): Picture[] {
  const pictures: Picture[] = [];
  for (const node of objects(resultOf(parse(raw), item))) {
    const mediaType = node.media_type ?? node.mimeType;
    if (typeof mediaType !== 'string' || typeof node.data !== 'string') continue;
    if (mediaType.startsWith('image/')) pictures.push({ mediaType, base64: node.data });
  }
  return pictures;
}

const SIGNATURES: [string, number[]][] = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/gif', [0x47, 0x49, 0x46, 0x38]],
  ['image/webp', [0x52, 0x49, 0x46, 0x46]],
];

/** The bytes of a picture that a browser may show, or why it may not. Its first bytes count, not its name. */
export function deriveBlob(picture: Picture): Blob | string {
  if (!TYPES.has(picture.mediaType))
    return `Pictures of the kind ${picture.mediaType.slice(0, 60)} are not shown.`;
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = Uint8Array.from(atob(picture.base64), (char) => char.charCodeAt(0));
  } catch {
    return 'The picture is broken: it is no base64.';
  }
  const type = SIGNATURES.find(([, signature]) => signature.every((byte, at) => bytes[at] === byte))?.[0];
  if (!type) return 'The picture is broken: it is no PNG, JPEG, GIF or WebP.';
  return new Blob([bytes], { type });
}

/** Whether an attachment in words, `image/png, 1234 bytes`, is a picture that can be shown. */
export function isPicture(attachment: string): boolean {
  return TYPES.has(attachment.split(',')[0]?.trim() ?? '');
}

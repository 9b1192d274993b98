/** A text longer than this is shown as it is. */
export const MOST_CHARS = 200_000;
/** More blocks than this, and the rest is shown as it is. */
export const MOST_BLOCKS = 800;
/** A block that takes longer, in milliseconds, is shown as it is; so is what comes after the sum is used up. */
export const MOST_BLOCK_COST = 250;
export const MOST_COST = 800;
/** Quotes and lists inside each other. */
const MOST_DEPTH = 20;

function count(text: string, code: number): number {
  let found = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) === code) found += 1;
  return found;
}

/** How deep the first words of the deepest line are in quotes and lists. */
export function deepest(text: string): number {
  let deepest = 0;
  for (const [prefix] of text.matchAll(/^[ \t>*+-]+/gm)) {
    const marks = prefix.replace(/[ \t]/g, '').length;
    const indent = Math.floor(prefix.length / 4);
    // A line of dashes is a rule, not a list.
    deepest = Math.max(deepest, /^(\s*[-*+])+\s*$/.test(prefix) && !prefix.includes(' ') ? 0 : marks, indent);
  }
  return deepest;
}

/**
 * Roughly how many milliseconds a Markdown parser takes for a block: measured, with some room. Marks that may belong
 * together make it quadratic. Infinite for what no parser should see.
 */
export function estimateCost(text: string): number {
  if (text.length > MOST_CHARS || deepest(text) > MOST_DEPTH) return Number.POSITIVE_INFINITY;
  const [star, underscore, bracket, tick, tilde, angle] = [...'*_[`~<'].map((mark) =>
    count(text, mark.charCodeAt(0)),
  );
  const marks = (star ?? 0) + (underscore ?? 0) + (bracket ?? 0) + (tick ?? 0) + (tilde ?? 0) + (angle ?? 0);
  const lines = count(text, 10);
  const cells = count(text, 124);
  return text.length / 200 + (marks / 100) ** 2 + marks / 20 + lines * 0.3 + cells * 0.1;
}

/** How many blocks are laid out; the rest is shown as it is, in one. */
export function affordable(blocks: readonly { cost: number }[]): number {
  let sum = 0;
  for (const [at, { cost }] of blocks.entries()) {
    // One that is too dear is shown as it is, and does not count.
    if (cost <= MOST_BLOCK_COST) sum += cost;
    if (sum > MOST_COST || at >= MOST_BLOCKS) return at;
  }
  return blocks.length;
}

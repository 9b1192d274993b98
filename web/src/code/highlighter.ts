import type { GrammarState, HighlighterCore } from '@shikijs/core';
import { classOfColour, mergeSpans, type Span } from './derive-spans';
import { type Language, loadLanguage } from './languages';

const THEME = 'page';
/** So many lines are coloured before the page gets a turn. */
const LINES_AT_ONCE = 25;
/** For one line, in milliseconds; what is left of it gets no colour. */
const MOST_LINE_TIME = 500;
/** A portion that took longer is the last one. */
const MOST_PORTION_TIME = 1_000;

let highlighter: Promise<HighlighterCore> | undefined;
const loading = new Map<Language, Promise<void>>();
/** Languages whose patterns are compiled. That can take longer than a line may, and would leave it half coloured. */
const warm = new Set<Language>();

async function makeHighlighter(): Promise<HighlighterCore> {
  const [core, engine] = await Promise.all([import('@shikijs/core'), import('@shikijs/engine-javascript')]);
  return core.createHighlighterCore({
    themes: [core.createCssVariablesTheme({ name: THEME, variablePrefix: '--shiki-', fontStyle: false })],
    langs: [],
    engine: engine.createJavaScriptRegexEngine({ forgiving: true }),
  });
}

async function highlighterFor(language: Language): Promise<HighlighterCore> {
  highlighter ??= makeHighlighter();
  const made = await highlighter;
  let load = loading.get(language);
  if (!load) {
    load = loadLanguage(language).then((registrations) => made.loadLanguage(...registrations));
    loading.set(language, load);
  }
  await load;
  return made;
}

/** Colours can wait that long for a page that has nothing better to do. */
const LONGEST_WAIT_MS = 400;

/** Gives the page a turn, and comes back when it has nothing to do: whoever scrolls needs no colours. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    if ('requestIdleCallback' in globalThis)
      requestIdleCallback(() => resolve(), { timeout: LONGEST_WAIT_MS });
    else setTimeout(resolve, 0);
  });
}

/** Colours lines and tells after each portion what is done so far. Ends early when `signal` says so. */
export async function colourLines(
  lines: readonly string[],
  language: Language,
  tell: (spans: Span[][]) => void,
  signal: AbortSignal,
): Promise<Span[][]> {
  const made = await highlighterFor(language);
  await turn();
  const spans: Span[][] = [];
  // It is no longer on the screen.
  if (signal.aborted) return spans;
  let grammarState: GrammarState | undefined;
  const colour = (portion: string) =>
    made.codeToTokensBase(portion, {
      lang: language,
      theme: THEME,
      tokenizeTimeLimit: MOST_LINE_TIME,
      ...(grammarState && { grammarState }),
    });
  if (!warm.has(language)) {
    warm.add(language);
    colour(lines.slice(0, LINES_AT_ONCE).join('\n'));
    await turn();
  }
  for (let first = 0; first < lines.length && !signal.aborted; first += LINES_AT_ONCE) {
    const started = performance.now();
    const tokens = colour(lines.slice(first, first + LINES_AT_ONCE).join('\n'));
    for (const line of tokens) {
      spans.push(
        mergeSpans(line.map(({ content, color }) => ({ text: content, className: classOfColour(color) }))),
      );
    }
    grammarState = made.getLastGrammarState(tokens);
    tell(spans.slice());
    if (performance.now() - started > MOST_PORTION_TIME) break;
    await turn();
  }
  return spans;
}

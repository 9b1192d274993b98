/**
 * Characters that nobody sees, or that make others be seen in another order: control characters, marks of direction,
 * joiners, fillers, and blanks that are no space. What belongs to an emoji and the end of a line stay as they are.
 */
const HIDDEN =
  /(?!(?<=\p{Extended_Pictographic})\ufe0f|(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d(?=\p{Extended_Pictographic})|[ \t\n]|\r\n)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Whether a text is all that can be seen of it. */
export function isVisible(text: string): boolean {
  return text.search(HIDDEN) < 0;
}

/** A text with everything that would not be seen told by its number. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
    return `⟨U+${number.padStart(4, '0')}⟩`;
  });
}

/** JSON in which nothing is hidden, and which still means the same. */
export function visibleJson(value: unknown, indent = 2): string {
  const text = JSON.stringify(value, null, indent) ?? '';
  return text.replace(HIDDEN, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
    }).join(''),
  );
}

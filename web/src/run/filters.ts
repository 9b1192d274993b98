import { CATEGORIES, type Category } from './row';

/** Hidden unless somebody asks for it: what only those need who look for a fault. */
const FIRST_HIDDEN: readonly Category[] = ['process', 'records'];
/** Says in the address that nothing is hidden. */
const NOTHING = 'nothing';

function isCategory(word: string): word is Category {
  return Object.hasOwn(CATEGORIES, word);
}

/** What is hidden, by the address. */
export function hiddenOf(hide: readonly string[] | undefined): ReadonlySet<Category> {
  return new Set(hide === undefined ? FIRST_HIDDEN : hide.filter(isCategory));
}

/** Whether nobody has chosen what is shown. */
export function isAsAtFirst(hidden: ReadonlySet<Category>): boolean {
  return hidden.size === FIRST_HIDDEN.length && FIRST_HIDDEN.every((each) => hidden.has(each));
}

/** What the address says when a category is switched; nothing if that is as at first. */
export function toggled(hidden: ReadonlySet<Category>, category: Category): string[] | undefined {
  const next = new Set(hidden);
  if (!next.delete(category)) next.add(category);
  if (isAsAtFirst(next)) return undefined;
  return next.size === 0 ? [NOTHING] : [...next].sort();
}

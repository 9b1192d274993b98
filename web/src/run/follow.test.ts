import { expect, test } from 'vitest';
import { Follow, intentOfKey } from './follow';

const place = (top: number, total = 1_000, hasEnd = true) => ({
  top,
  height: 200,
  total,
  size: total,
  hasEnd,
});

test('growing and correcting never ends following', () => {
  const follow = new Follow(true);
  follow.scrolled(place(800));
  follow.scrolled(place(800, 1_400));
  follow.puts(1_200);
  follow.scrolled(place(1_200, 1_400));
  // A row above turns out to be smaller; the list tells its new height later.
  follow.scrolled({ ...place(1_150, 1_400), size: 1_350 });
  follow.puts(1_100);
  follow.scrolled({ ...place(1_100, 1_350), size: 1_350 });
  // Its rows are known to be smaller before the browser lays them out, and so cuts the list.
  follow.scrolled({ ...place(1_100, 1_350), size: 1_300 });
  follow.scrolled({ ...place(1_050, 1_300), size: 1_300 });
  follow.scrolled({ ...place(1_100, 1_350), size: 1_350 });
  // The input beneath grows.
  follow.scrolled({ ...place(1_000, 1_350), height: 350, size: 1_350 });
  expect(follow.isOn).toBe(true);
});

test('a wheel up ends it before the list has moved', () => {
  const follow = new Follow(true);
  follow.scrolled(place(800));
  follow.moves('up');
  expect(follow.isOn).toBe(false);
  follow.scrolled(place(799));
  expect(follow.isOn).toBe(false);
});

test('a wheel up in a list that cannot scroll changes nothing', () => {
  const follow = new Follow(true);
  follow.scrolled(place(0, 150));
  follow.moves('up');
  expect(follow.isOn).toBe(true);
});

test('whoever scrolls down to the end is back', () => {
  const follow = new Follow(false);
  follow.scrolled(place(100));
  follow.moves('down');
  expect(follow.scrolled(place(500))).toBe(false);
  expect(follow.scrolled(place(800))).toBe(true);
  expect(follow.isOn).toBe(true);
});

test('whoever gets to the end by other ways is back, too', () => {
  const follow = new Follow(false);
  follow.scrolled(place(100));
  follow.scrolled(place(500));
  expect(follow.isOn).toBe(false);
  expect(follow.scrolled(place(800))).toBe(true);
  // What the page itself does is nobody's wish.
  const other = new Follow(false);
  other.scrolled(place(100));
  other.puts(800);
  expect(other.scrolled(place(800))).toBe(false);
});

test('the end of a part of the run is not the end', () => {
  const follow = new Follow(false);
  follow.moves('down');
  follow.scrolled(place(800, 1_000, false));
  expect(follow.isOn).toBe(false);
});

test('whoever moves the list without a word before leaves, too', () => {
  const follow = new Follow(true);
  follow.puts(800);
  follow.scrolled(place(800));
  // The tab key went to a link further up.
  expect(follow.isPersons(place(300))).toBe(true);
  expect(follow.scrolled(place(300))).toBe(true);
  expect(follow.isOn).toBe(false);
});

test('a list that shrinks to its end is not a person who comes back', () => {
  const follow = new Follow(false);
  follow.scrolled(place(500));
  follow.scrolled(place(500, 700));
  expect(follow.isOn).toBe(false);
});

test('a dragged scroll bar leaves and comes back', () => {
  const follow = new Follow(true);
  follow.scrolled(place(800));
  follow.moves('any');
  follow.scrolled(place(400));
  expect(follow.isOn).toBe(false);
  follow.scrolled(place(800));
  expect(follow.isOn).toBe(true);
});

test('keys that scroll are told from others', () => {
  expect(intentOfKey('PageUp', false)).toBe('up');
  expect(intentOfKey(' ', true)).toBe('up');
  expect(intentOfKey(' ', false)).toBe('down');
  expect(intentOfKey('x', false)).toBeNull();
});

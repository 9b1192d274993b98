import { expect, test } from 'vitest';
import { ServerClock } from './server-clock';

const at = (ms: number) => new Date(ms).toUTCString();
const NOON = Date.UTC(2026, 0, 1, 12);

test('clocks that may be the same are the same', () => {
  const clock = new ServerClock();
  expect(clock.offset).toBe(0);
  clock.note(at(NOON), NOON + 900, NOON + 950);
  expect(clock.offset).toBe(0);
});

test('a browser that is behind or ahead is told by how much', () => {
  const behind = new ServerClock();
  behind.note(at(NOON + 600_000), NOON + 400, NOON + 500);
  expect(Math.abs(behind.offset - 600_000)).toBeLessThan(1_000);
  const ahead = new ServerClock();
  ahead.note(at(NOON - 60_000), NOON + 400, NOON + 500);
  expect(Math.abs(ahead.offset + 60_000)).toBeLessThan(1_000);
});

test('more answers make it exact', () => {
  const clock = new ServerClock();
  const skew = 5_250;
  for (let sent = NOON; sent < NOON + 20_000; sent += 1_370) {
    clock.note(at(Math.floor((sent + 10 + skew) / 1_000) * 1_000), sent, sent + 20);
  }
  expect(Math.abs(clock.offset - skew)).toBeLessThan(200);
});

test('a clock that is set while the page is open is followed', () => {
  const clock = new ServerClock();
  clock.note(at(NOON), NOON + 100, NOON + 150);
  clock.note(at(NOON + 3_600_000), NOON + 5_100, NOON + 5_150);
  expect(clock.offset).toBeGreaterThan(3_500_000);
});

test('an answer that does not say when says nothing', () => {
  const clock = new ServerClock();
  clock.note(null, NOON, NOON);
  clock.note('tomorrow', NOON, NOON);
  expect(clock.offset).toBe(0);
});

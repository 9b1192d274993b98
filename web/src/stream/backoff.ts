const FIRST_MS = 500;
const MOST_MS = 15_000;

/** How long to wait before try number `failures`: doubled each time, and spread so that not all come back at once. */
export function backoffMs(failures: number, random: () => number): number {
  const whole = Math.min(MOST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return Math.round(whole / 2 + (whole / 2) * random());
}

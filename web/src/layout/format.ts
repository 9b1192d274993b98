/** Money to four digits behind the point; a dash where nobody knows. */
export function formatCost(microUsd: number | null | undefined, isEstimate = false): string {
  if (microUsd === null || microUsd === undefined || !Number.isFinite(microUsd)) return '–';
  return `${isEstimate ? '≈ ' : ''}$${(microUsd / 1_000_000).toFixed(4)}`;
}

/** `850 ms`, `4.2 s`, `3 m 07 s`, `2 h 05 m`, `3 d 4 h`. */
export function formatDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return '–';
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  return formatLong(seconds);
}

/** A duration that ticks: whole seconds from the start. */
export function formatElapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  return seconds < 60 ? `${seconds} s` : formatLong(seconds);
}

function formatLong(seconds: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m`;
  const hours = Math.floor(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** `812`, `14.2 k`, `3.1 M`. */
export function formatCount(count: number | null | undefined): string {
  if (count === null || count === undefined || !Number.isFinite(count)) return '–';
  if (count < 1_000) return String(count);
  if (count < 999_950) return `${(count / 1_000).toFixed(1)} k`;
  return `${(count / 1_000_000).toFixed(1)} M`;
}

/** `812 B`, `14.2 kB`, `3.1 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 999_950) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

// Making one takes longer than a row of the activity.
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const DAY_AND_YEAR = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });

/** The time of day; with the date where that is not today's. */
export function formatTime(at: string, now = new Date()): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return at;
  const clock = CLOCK.format(time);
  const isThisYear = time.getFullYear() === now.getFullYear();
  const isToday = isThisYear && time.getMonth() === now.getMonth() && time.getDate() === now.getDate();
  return isToday ? clock : `${(isThisYear ? DAY : DAY_AND_YEAR).format(time)} ${clock}`;
}

const HOUR = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

/** The same in short: the time of day for today, with the day for this year, and the day alone for earlier ones. */
export function formatShortTime(at: string, now = new Date()): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return at;
  if (time.getFullYear() !== now.getFullYear()) return DAY_AND_YEAR.format(time);
  const isToday = time.getMonth() === now.getMonth() && time.getDate() === now.getDate();
  return isToday ? HOUR.format(time) : `${DAY.format(time)} ${HOUR.format(time)}`;
}

/** The end of a path, which tells it apart from others. */
export function shortPath(path: string, parts = 2): string {
  const names = path.split('/').filter((name) => name !== '');
  if (names.length <= parts) return path;
  return `…/${names.slice(-parts).join('/')}`;
}

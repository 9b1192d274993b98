import type { Row } from '../run/row';

/** The last record that warns of what the agent did not take, such as another model; 0 if there is none. */
export function lastRefusal(rows: readonly Row[]): number {
  const isRefusal = ({ body }: Row) => body.kind === 'warning' && body.warning.kind === 'degraded';
  return rows.findLast(isRefusal)?.seq ?? 0;
}

/** Whether arguments were too long to be kept, and only this is left of them. No tool has such arguments itself. */
export function isDropped(input: unknown): boolean {
  return JSON.stringify(input) === '{"dropped":{"reason":"oversize"}}';
}

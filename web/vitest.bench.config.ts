import { defineConfig } from 'vitest/config';

/** Figures of the built page in a real browser, against the real server. */
export default defineConfig({
  test: {
    include: ['bench/**/*.bench.ts'],
    environment: 'node',
    expect: { poll: { timeout: 30_000 } },
    reporters: ['minimal'],
    silent: 'passed-only',
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 900_000,
  },
});

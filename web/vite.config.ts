import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

/** The server that `vite dev` asks: its address, and the file with its token. Neither is part of what is built. */
const server = process.env.RALPH_DEV_SERVER ?? 'http://127.0.0.1:7878';
const tokenFile = process.env.RALPH_DEV_TOKEN_FILE;

function devHeaders(): Record<string, string> {
  const headers: Record<string, string> = { origin: server };
  if (tokenFile) headers.authorization = `Bearer ${readFileSync(tokenFile, 'utf8').trim()}`;
  return headers;
}

export default defineConfig(({ command }) => ({
  plugins: [react(), tailwindcss()],
  resolve: {
    // The form for browsers lets `innerHTML` decode `&amp;` and the like, which the page's policy forbids.
    alias: {
      'decode-named-character-reference': resolve('node_modules/decode-named-character-reference/index.js'),
    },
  },
  build: {
    target: 'es2022',
    outDir: 'dist',
    // The policy of the page allows no data: addresses but for pictures.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  ...(command === 'serve' && {
    server: {
      proxy: { '/api': { target: server, changeOrigin: true, ws: true, headers: devHeaders() } },
    },
  }),
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/seed-for-tests.ts'],
  },
}));

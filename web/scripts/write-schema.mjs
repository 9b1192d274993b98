// Writes src/api/schema.d.ts from docs/openapi.json, and docs/stream.schema.json from src/wire. Names of operations are
// left out of the former: the page does not use them.
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import { streamSchema } from './write-stream-schema.mjs';

async function schema() {
  const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));
  for (const path of Object.values(document.paths)) {
    for (const operation of Object.values(path)) delete operation.operationId;
  }
  const head =
    '// Made from docs/openapi.json by `npm run schema`; a test holds it against that. Do not edit.\n';
  return head + astToString(await openapiTS(document));
}

const files = [
  ['../src/api/schema.d.ts', await schema(), 'docs/openapi.json says'],
  ['../../docs/stream.schema.json', streamSchema(), 'src/wire says'],
];
for (const [name, text, source] of files) {
  const file = new URL(name, import.meta.url);
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text);
  } else if (readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`${name} is not what ${source}: run \`npm run schema\`\n`);
    process.exitCode = 1;
  }
}

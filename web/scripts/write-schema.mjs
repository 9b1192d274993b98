// Writes src/api/schema.d.ts from docs/openapi.json. Names of operations are left out: they are not unique.
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';

export async function schema() {
  const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));
  for (const path of Object.values(document.paths)) {
    for (const operation of Object.values(path)) delete operation.operationId;
  }
  const head =
    '// Made from docs/openapi.json by `npm run schema`; a test holds it against that. Do not edit.\n';
  return head + astToString(await openapiTS(document));
}

const target = new URL('../src/api/schema.d.ts', import.meta.url);
if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== (await schema())) {
    process.stderr.write('src/api/schema.d.ts is not what docs/openapi.json says: run `npm run schema`\n');
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, await schema());
}

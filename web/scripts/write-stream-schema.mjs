// The JSON Schema of the stream, docs/stream.schema.json, from the types in src/wire.
import { fileURLToPath } from 'node:url';
import { createGenerator } from 'ts-json-schema-generator';

/** Every other number is an integer. */
const FRACTIONS = new Set(['used_percent']);
const TYPES = ['ToClient', 'FromClient', 'RunRecord'];

export function streamSchema() {
  const generator = createGenerator({
    path: fileURLToPath(new URL('../src/wire/index.ts', import.meta.url)),
    tsconfig: fileURLToPath(new URL('../tsconfig.json', import.meta.url)),
    // A newer server may send more fields.
    additionalProperties: true,
    skipTypeCheck: true,
  });
  const definitions = Object.assign({}, ...TYPES.map((type) => generator.createSchema(type).definitions));
  const names = Object.keys(definitions).sort();
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'The stream of ralph serve',
    description:
      'Messages of the WebSocket `/api/v1/stream`: `ToClient` is what the server sends, `FromClient` what a client sends. Events of `/api/v1/runs/{id}/events` are messages of `ToClient`, too. `RunRecord` is one record of a run, as it is in messages, in pages of records and in the journal.',
    anyOf: [{ $ref: '#/definitions/ToClient' }, { $ref: '#/definitions/FromClient' }],
    definitions: Object.fromEntries(names.map((name) => [name, definitions[name]])),
  };
  const text = JSON.stringify(schema, (_, value) => (isObject(value) ? withIntegers(value) : value), 2);
  return `${text}\n`;
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** TypeScript has one type for all numbers. */
function withIntegers(schema) {
  if (schema.type === 'number' && !('const' in schema)) return { ...schema, type: 'integer' };
  if (!isObject(schema.properties)) return schema;
  const properties = Object.entries(schema.properties).map(([name, property]) => [
    name,
    // Hidden from the replacement above.
    FRACTIONS.has(name) ? { ...property, type: ['number'] } : property,
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

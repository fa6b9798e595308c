import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventSchemaFile } from '../../tools/docs/event-schema.ts';

describe('docs/schemas/computation-event.json', () => {
  it('is up to date with the schema of events (`npm run docs:events` updates it)', () => {
    const file = readFileSync(new URL('../../docs/schemas/computation-event.json', import.meta.url), 'utf8');
    expect(JSON.parse(file)).toEqual(JSON.parse(eventSchemaFile()));
  });
});

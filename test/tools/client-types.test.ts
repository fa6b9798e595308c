import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generateApiTypes } from '../../tools/client-types.ts';

describe('the generated files of the client', () => {
  it('are those of the present OpenAPI document (`npm run client:types` writes them)', async () => {
    const generated = await generateApiTypes();
    const kept = Object.keys(generated).map((name) => [name, readFileSync(join('packages/client/generated', name), 'utf8')]);
    expect(Object.fromEntries(kept)).toEqual(generated);
  });
});

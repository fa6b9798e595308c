import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../shared/routes.ts';
import type { Misdeed } from './import-handlers.ts';

const program = fileURLToPath(new URL('./import-handlers.ts', import.meta.url));
let seen: { names: string[]; misdeeds: Misdeed[] };

beforeAll(async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env: {}, maxBuffer: 2 ** 26 });
  seen = JSON.parse(stdout) as typeof seen;
});

describe('the functions', () => {
  it('are all imported, those of the routes among them', () => {
    expect(seen.names).toEqual(expect.arrayContaining(routes.map(({ name }) => `${name}.ts`)));
  });

  it('do nothing on import: no environment read, no connection, no timer; each exports its handler', () => {
    expect(seen.misdeeds).toEqual([]);
  });
});

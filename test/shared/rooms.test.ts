import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { routes } from '../../shared/endpoints/endpoints.ts';

const shared = join(import.meta.dirname, '../../shared');
const declared = /^export (?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm;

function textOf(...path: string[]): string {
  return readFileSync(join(shared, ...path), 'utf8');
}

const rooms = readdirSync(shared).filter((room) => readdirSync(join(shared, room)).includes('index.ts'));

describe('the rooms of shared/', () => {
  it.each(rooms)('have a door that exports at most half of what the room exports: %s', (room) => {
    const files = readdirSync(join(shared, room)).filter((file) => file !== 'index.ts');
    const inside = files.flatMap((file) => [...textOf(room, file).matchAll(declared)]);
    const names = [...textOf(room, 'index.ts').matchAll(/\{([^}]*)\}/g)].flatMap(
      ([, list = '']) => list.match(/\w+(?=\s*(,|$))/g) ?? [],
    );
    expect(names.length).toBeGreaterThan(0);
    expect(2 * names.length).toBeLessThanOrEqual(inside.length);
  });

  it('hold the work of each endpoint in the folder of its noun', () => {
    const endpoints = routes.map(({ name }) => name).filter((name) => !name.startsWith('service/'));
    const elsewhere = [...new Set(endpoints)].filter((name) => {
      const [noun = ''] = name.split('/');
      const handler = textOf('../functions', `${name}.ts`);
      const imported = [...handler.matchAll(new RegExp(`import \{([^}]*)\} from '../../shared/${noun}/`, 'g'))];
      const operations = imported.flatMap(([, list = '']) => list.match(/\b\w+/g) ?? []);
      return !operations.some((operation) => handler.includes(`${operation}(`));
    });
    expect(elsewhere).toEqual([]);
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { migrations } from '../../shared/migrations/migrations.ts';

describe('docs/upgrade.md', () => {
  it('explains each migration in a paragraph of its own, in the order in which they run', () => {
    const text = readFileSync(new URL('../../docs/upgrade.md', import.meta.url), 'utf8');
    const explained = [...text.matchAll(/\n\n`([a-z-]+)` /g)].map(([, name]) => name);
    expect(explained).toEqual(migrations.map(({ name }) => name));
  });
});

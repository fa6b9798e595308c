import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withEndpointTable } from '../../tools/docs/endpoint-table.ts';
import { routes } from '../../shared/endpoints/endpoints.ts';

const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');

describe('docs/api.md', () => {
  it('is up to date with the route table (`npm run docs:endpoints` updates it)', () => {
    expect(withEndpointTable(page)).toBe(page);
  });

  it.each(routes)('has a line for $method $path', ({ method, path }) => {
    expect(page).toContain(`\n- \`${method} ${path}\``);
  });
});

import { expect, it } from 'vitest';
import { keysForBodies } from '../../../../packages/console/loading/use-action.ts';

it('a form that is sent again has the same Idempotency-Key, and another one after it was changed', () => {
  const keyFor = keysForBodies();
  const first = keyFor({ name: 'a' });
  expect(first).toMatch(/^[0-9a-f]{32}$/);
  expect(keyFor({ name: 'a' })).toBe(first);
  expect(keyFor({ name: 'b' })).not.toBe(first);
  expect(keysForBodies()({ name: 'a' })).not.toBe(first);
});

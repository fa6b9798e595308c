import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isNestedDeeperThan } from '../../../shared/http/nesting.ts';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('isNestedDeeperThan', () => {
  it('agrees with the depth of the parsed value, whatever its strings hold', () => {
    const trickyText = fc.string({ unit: fc.constantFrom('[', '{', '"', '\\', 'a', ']', '}') });
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 8, depthIdentifier: 'value' },
        trickyText,
        fc.array(tie('value'), { maxLength: 3, depthIdentifier: 'value' }),
        fc.dictionary(trickyText, tie('value'), { maxKeys: 3, depthIdentifier: 'value' }),
      ),
    }));
    fc.assert(
      fc.property(value, (json) => {
        const depth = depthOf(json);
        expect(isNestedDeeperThan(depth, JSON.stringify(json))).toBe(false);
        if (depth > 0) expect(isNestedDeeperThan(depth - 1, JSON.stringify(json))).toBe(true);
      }),
    );
  });

  it.each(['', '"', '"\\', ']]]', '{"a":"'])('comes to an end on the broken JSON %j', (text) => {
    expect(isNestedDeeperThan(1, text)).toBe(false);
  });
});

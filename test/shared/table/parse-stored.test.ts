import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { parseStored } from '../../../shared/table/parse-stored.ts';

describe('parseStored', () => {
  const schema = v.object({ run: v.object({ number: v.number() }) });

  it('returns the fields of the schema', () => {
    expect(parseStored(schema, { run: { number: 1 }, pk: 'p' }, 'note')).toEqual({ run: { number: 1 } });
  });

  it('throws an error that says what was stored, and which field does not fit', () => {
    expect(() => parseStored(schema, { run: { number: '1' } }, 'note')).toThrow('A stored note does not fit: run.number: ');
  });

  it('names the item if it does not fit as a whole', () => {
    const refused = v.pipe(
      v.looseObject({}),
      v.check(() => false, 'Refused.'),
    );
    expect(() => parseStored(refused, {}, 'note')).toThrow('A stored note does not fit: item: Refused.');
  });
});

import type * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { ServiceError } from '../../shared/runtime/errors.ts';
import type { Route } from '../../shared/http/route.ts';
import { parseInput } from '../../shared/http/parse.ts';
import { approvalInput } from '../../shared/approvals/approval.ts';

interface Part {
  kind: string;
  type: string;
  expects: string | null;
  message?: unknown;
}

/** Returns the schemas and validations inside a schema, with their places. */
function partsOf(node: unknown, place = ''): [string, Part][] {
  if (typeof node !== 'object' || node === null || !('kind' in node)) return [];
  const { pipe = [], wrapped, item, options = [], entries = {} } = node as Record<string, never> & { pipe?: unknown[] };
  const inside = [
    ...pipe.flatMap((part) => (part === node ? [] : partsOf(part, place))),
    ...partsOf(wrapped, place),
    ...partsOf(item, `${place}/0`),
    ...(options as unknown[]).flatMap((option) => partsOf(option, place)),
    ...Object.entries(entries).flatMap(([name, entry]) => partsOf(entry, `${place}/${name}`)),
  ];
  return pipe.length > 0 ? inside : [[place, node as unknown as Part], ...inside];
}

/** A validation that has no words for what it expects. Those with `raw_check` always add their own. */
const isSilent = ({ kind, type, expects, message }: Part) =>
  kind === 'validation' && expects === null && message === undefined && type !== 'raw_check';

const inputs = (routes as readonly Route[]).flatMap(({ method, path, body, query }) =>
  [body && ['body', body], query && ['query', query]].flatMap((given) =>
    given ? [{ title: `${method} ${path}`, what: given[0] as string, schema: given[1] as v.GenericSchema }] : [],
  ),
);

describe('every field of the API', () => {
  it('is found by this test', () => {
    const places = inputs.flatMap(({ schema }) => partsOf(schema).map(([place]) => place));
    expect(places).toEqual(
      expect.arrayContaining(['/expires_at', '/asset/file_name', '/reports/0/occurred_at', '/cvm_ids/0', '/limit']),
    );
  });

  it.each(inputs)('says what was expected if a value is refused: $what of $title', ({ schema }) => {
    const silent = partsOf(schema).filter(([, part]) => isSilent(part));
    expect(silent.map(([place, { type }]) => `${place}: ${type}`)).toEqual([]);
  });
});

describe('expires_at of an approval', () => {
  const violationsOf = (expires_at: unknown) => {
    try {
      parseInput(approvalInput, { digest: '0'.repeat(64), configuration_digest: '0'.repeat(64), expires_at }, '');
    } catch (error) {
      if (error instanceof ServiceError) return error.extras.errors;
      throw error;
    }
    return [];
  };

  it.each([
    'tomorrow',
    '',
    '2025-07-17',
    '2025-07-17_08:00:00Z',
    '2025-07-17T08:00:00',
    '2025-02-30T08:00:00Z',
    '2025-07-17T24:00:00Z',
    '2025-07-17T08:00:00+24:00',
    '2025-07-17T08:00:00Z',
    '2025-07-17T10:00:00.000+02:00',
    '1752739200',
    5,
  ])('is refused with one error that shows the form: %s', (text) => {
    const detail = 'Expected a time such as 2025-07-17T08:00:00.000Z.';
    expect(violationsOf(text)).toEqual([{ pointer: '/expires_at', detail }]);
  });

  it.each(['2025-07-17T08:00:00.000Z', '2024-02-29T23:59:59.999Z', null])('may be %s', (text) => {
    expect(violationsOf(text)).toEqual([]);
  });
});

import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { approvalInput } from '../../../shared/approvals/approval.ts';

const digest = '0a'.repeat(32);
const isTaken = (fields: object) => v.safeParse(approvalInput, { digest, configuration_digest: digest, ...fields }).success;
const cvms = (count: number) => Array.from({ length: count }, (_, index) => `cvm-${index}`);

describe('approvalInput', () => {
  it.each([
    ['nothing but the digests', {}],
    ['null for what is not limited', { cvm_ids: null, expires_at: null, signature: null }],
    ['100 CVMs', { cvm_ids: cvms(100) }],
    ['a time', { expires_at: '2026-01-01T00:00:00.000Z' }],
    ['a signature of 4,096 characters', { signature: 'AAAA'.repeat(1024) }],
  ])('takes %s', (_what, fields) => {
    expect(isTaken(fields)).toBe(true);
  });

  it.each([
    ...[undefined, '', 'AB'.repeat(32), `${digest}0`, ` ${digest}`, `${digest}\n`, 0, null].flatMap(
      (given): [string, object][] => [
        [`the digest ${JSON.stringify(given)}`, { digest: given }],
        [`the configuration_digest ${JSON.stringify(given)}`, { configuration_digest: given }],
      ],
    ),
    ['no CVM', { cvm_ids: [] }],
    ['a CVM twice', { cvm_ids: ['cvm-1', 'cvm-1'] }],
    ['101 CVMs', { cvm_ids: cvms(101) }],
    ['a CVM that no identifier can name', { cvm_ids: ['a b'] }],
    ...['2026-01-01T00:00:00', '2026-01-01T00:00:00Z', '2026-01-01T01:00:00.000+01:00', '2026-02-30T00:00:00.000Z'].map(
      (expires_at): [string, object] => [`the time ${expires_at}`, { expires_at }],
    ),
    ['a signature that is not base64', { signature: '***' }],
    ['a signature of 4,100 characters', { signature: 'AAAA'.repeat(1025) }],
    ['a field that does not exist', { signed: true }],
  ])('refuses %s', (_what, fields) => {
    expect(isTaken(fields)).toBe(false);
  });
});

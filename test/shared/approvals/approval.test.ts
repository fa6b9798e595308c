import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { approvalInput } from '../../../shared/approvals/approval.ts';

const digest = '0a'.repeat(32);
const isTaken = (fields: object) => v.safeParse(approvalInput, { digest, ...fields }).success;
const cvms = (count: number) => Array.from({ length: count }, (_, index) => `cvm-${index}`);

describe('approvalInput', () => {
  it.each([
    ['nothing but the digest', {}],
    ['a digest of another form, which is that of no manifest', { digest: 'sha3:0A' }],
    ['a digest of 200 characters', { digest: '0'.repeat(200) }],
    ['null for what is not limited', { cvm_ids: null, expires_at: null, signature: null }],
    ['100 CVMs', { cvm_ids: cvms(100) }],
    ['a time', { expires_at: '2026-01-01T00:00:00Z' }],
    ['a signature of 4,096 characters', { signature: 'AAAA'.repeat(1024) }],
  ])('takes %s', (_what, fields) => {
    expect(isTaken(fields)).toBe(true);
  });

  it.each([
    ['no digest', { digest: undefined }],
    ['an empty digest', { digest: '' }],
    ['a digest of 201 characters', { digest: '0'.repeat(201) }],
    ['a digest that is a number', { digest: 0 }],
    ['null as the digest', { digest: null }],
    ['101 CVMs', { cvm_ids: cvms(101) }],
    ['a CVM that no identifier can name', { cvm_ids: ['a b'] }],
    ['a time without a zone', { expires_at: '2026-01-01T00:00:00' }],
    ['a signature that is not base64', { signature: '***' }],
    ['a signature of 4,100 characters', { signature: 'AAAA'.repeat(1025) }],
    ['a field that does not exist', { signed: true }],
  ])('refuses %s', (_what, fields) => {
    expect(isTaken(fields)).toBe(false);
  });
});

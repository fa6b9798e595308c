import { describe, expect, it } from 'vitest';
import {
  approveCommand,
  expiryAfter,
  type Limits,
  limitsOf,
  textToSign,
} from '../../../../packages/console/approvals/approval.ts';
import { approvalText } from '../../../../shared/approvals/approval-signature.ts';

const digest = 'ab'.repeat(32);

describe('the limits of an approval', () => {
  it.each([
    ['', undefined, {}],
    [' , ', undefined, {}],
    ['cvm-1, sim-2,', undefined, { cvm_ids: ['cvm-1', 'sim-2'] }],
    ['cvm-1', '7', { cvm_ids: ['cvm-1'], expires_at: '2026-01-08T00:00:00.000Z' }],
    ['', '1', { expires_at: '2026-01-02T00:00:00.000Z' }],
  ])('of the CVMs %j for %s days', (cvms, days = '', limits) => {
    expect(limitsOf(cvms, expiryAfter(days, Date.parse('2026-01-01T00:00:00Z')))).toEqual(limits);
  });
});

describe('the command that signs', () => {
  it('approves what is shown, in its domain, with the limits of the approval', () => {
    const shown = { domain: 'd1', computation: 'c1', digest, etag: '"e1"' };
    const command = `cms --domain d1 approve c1 --digest ${digest} --etag e1 --sign KEYFILE`;
    expect(approveCommand({ ...shown, limits: {} })).toBe(command);
    expect(approveCommand({ ...shown, limits: { cvm_ids: ['cvm-1', 'cvm-2'], expires_at: '2026-01-08T00:00:00.000Z' } })).toBe(
      `${command} --cvm cvm-1 --cvm cvm-2 --expires 2026-01-08T00:00:00.000Z`,
    );
  });
});

describe('the text to sign for an approval', () => {
  const limits: Limits[] = [
    {},
    { cvm_ids: ['cvm-2', 'cvm:1'] },
    { expires_at: '2026-01-08T00:00:00.000Z' },
    { expires_at: '2026-01-08T00:00:00.000Z', cvm_ids: ['cvm-1'] },
  ];

  it.each(limits)('is the text that the service verifies: limits %j', (given) => {
    expect(textToSign({ domain: 'd1', computation: 'c1', digest, limits: given })).toBe(
      approvalText({ domain: 'd1', computationId: 'c1', digest, limits: given }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { findingsOf, fullStage } from '../support/synthesized-stages.ts';

describe('a stage with an issuer, a domain, pages and an address for alarms', () => {
  it('passes cdk-nag without findings', () => {
    expect(findingsOf(fullStage)).toEqual([]);
  });
});

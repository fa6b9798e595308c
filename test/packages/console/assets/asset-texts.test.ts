import { type ProblemFields, ServiceProblem } from 'computation-management-client';
import { describe, expect, it } from 'vitest';
import { fileFault, hasNoPlace, linkConflict } from '../../../../packages/console/assets/asset-texts.ts';

const fiveGiB = 5 * 1_024 ** 3;

describe('a file to upload', () => {
  it('may have up to 5 GiB', () => {
    expect(fileFault({ size: fiveGiB })).toBeUndefined();
    expect(fileFault(undefined)).toBeUndefined();
  });

  it('is refused above 5 GiB, before anything is created', () => {
    expect(fileFault({ size: fiveGiB + 1 })).toMatch(/^The file has 5.0\sGiB. Storage takes files of up to 5.0\sGiB/);
  });
});

describe('a new asset that cannot be linked', () => {
  const problem = (fields: Pick<ProblemFields, 'status' | 'code' | 'reason'>) =>
    new ServiceProblem({ detail: 'No.', request: 'POST /d1/assets/a1/c1', ...fields });

  it('may fit with another name or type, and the field to change says so', () => {
    const second = problem({ status: 409, code: 'conflict', reason: 'second_algorithm' });
    expect(hasNoPlace(second)).toBe(true);
    expect(linkConflict(second, 'second_algorithm')).toContain('Choose another type');
    expect(linkConflict(second, 'file_name_taken')).toBeUndefined();
    expect(hasNoPlace(problem({ status: 413, code: 'too_large' }))).toBe(true);
  });

  it('is kept for the next attempt if the service was away, or the link lacks something else', () => {
    for (const code of ['unavailable', 'not_found', 'forbidden'] as const) {
      expect(hasNoPlace(problem({ status: 400, code }))).toBe(false);
    }
    expect(hasNoPlace(new TypeError('No connection'))).toBe(false);
  });
});

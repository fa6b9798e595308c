import { describe, expect, it } from 'vitest';
import { fileFault } from '../../../../packages/console/assets/asset-texts.ts';

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

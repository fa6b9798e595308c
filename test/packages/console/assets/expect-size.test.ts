import { describe, expect, it } from 'vitest';
import { expectSize } from '../../../../packages/console/assets/upload-file.ts';

describe('content that has arrived', () => {
  const asset = { id: 'a1', file_name: 'penguins.csv', size: 3 };

  it('can be that of the file if it has its size', () => {
    expect(() => expectSize(asset, { name: 'a.csv', size: 3 })).not.toThrow();
  });

  it('is of an earlier upload if it has another size', () => {
    expect(() => expectSize(asset, { name: 'b.csv', size: 4 })).toThrow(/^penguins.csv has the content of an earlier upload/);
  });
});

import { mkdtempSync, openAsBlob, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { expectReadable } from '../../../../packages/console/assets/upload-file.ts';

async function chosen(content: string) {
  const folder = mkdtempSync(join(tmpdir(), 'chosen-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'a.csv');
  writeFileSync(path, content);
  const blob = await openAsBlob(path);
  return { path, file: { name: 'a.csv', slice: (start?: number) => blob.slice(start) } };
}

it.each(['', 'a,b'])('takes a file that is as it was when it was chosen (%j)', async (content) => {
  const { file } = await chosen(content);
  await expect(expectReadable(file)).resolves.toBeUndefined();
});

it('tells the user to choose a file again that was changed or deleted since', async () => {
  const [changed, deleted] = [await chosen('a,b'), await chosen('a,b')];
  writeFileSync(changed.path, 'a,b,c,d');
  rmSync(deleted.path);
  for (const { file } of [changed, deleted]) {
    await expect(expectReadable(file)).rejects.toThrow('a.csv has changed or is gone since you chose it. Choose it again.');
  }
});

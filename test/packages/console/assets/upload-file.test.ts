import { mkdtempSync, openAsBlob, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Schemas } from 'computation-management-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectReadable, expectSize, type Step, uploadFile } from '../../../../packages/console/assets/upload-file.ts';
import { hasWork } from '../../../../packages/console/routing/unsaved-work.ts';

const file = new File(['a,b'], 'a.csv');
const target: Schemas['AssetUpload'] = { method: 'PUT', url: 'https://storage/a', headers: {}, expires_at: '' };
const { signal } = new AbortController();

/** A client of a service that answers with these states of the asset, and notes whether leaving the page would ask. */
function serviceThatHashes(states: string[], asked: boolean[]) {
  return createClient({
    baseUrl: 'https://service',
    domain: 'd1',
    fetch: async () => {
      asked.push(hasWork('upload'));
      return Response.json({ id: 'a1', file_name: 'a.csv', size: file.size, state: states.shift() });
    },
  });
}

describe('an upload', () => {
  it('asks before the page is left until the file has arrived, and not while the service hashes it', async () => {
    const [whileSent, whileHashed, steps]: [boolean[], boolean[], Step[]] = [[], [], []];
    const client = serviceThatHashes(['pending', 'ready'], whileHashed);
    await uploadFile(client, {
      id: 'a1',
      target,
      file,
      signal,
      put: async (_to, _file, { onProgress }) => {
        onProgress(2);
        whileSent.push(hasWork('upload'));
        return { status: 200, body: '' };
      },
      onStep: (step) => void steps.push(step),
    });
    expect(whileSent).toEqual([true]);
    expect(whileHashed).toEqual([false, false]);
    expect(steps).toEqual([
      { state: 'sending', sent: 2 },
      { state: 'hashing', sent: 3 },
    ]);
  });

  it('asks nothing after it failed, and is not repeated for a file that cannot be read', async () => {
    let attempts = 0;
    const put = async () => {
      attempts++;
      throw new Error('a.csv has changed.');
    };
    const upload = uploadFile(serviceThatHashes([], []), { id: 'a1', target, file, signal, put, onStep: () => undefined });
    await expect(upload).rejects.toThrow('a.csv has changed.');
    expect({ attempts, asks: hasWork('upload') }).toEqual({ attempts: 1, asks: false });
  });
});

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

describe('content that has arrived', () => {
  const asset = { id: 'a1', file_name: 'penguins.csv', size: 3 };

  it('can be that of the file if it has its size', () => {
    expect(() => expectSize(asset, { name: 'a.csv', size: 3 })).not.toThrow();
  });

  it('is of an earlier upload if it has another size', () => {
    expect(() => expectSize(asset, { name: 'b.csv', size: 4 })).toThrow(/^penguins.csv has the content of an earlier upload/);
  });
});

import { createClient, type Schemas } from 'computation-management-client';
import { describe, expect, it } from 'vitest';
import { type Step, uploadFile } from '../../../../packages/console/assets/upload-file.ts';
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

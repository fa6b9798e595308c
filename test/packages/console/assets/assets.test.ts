import { createClient, type ProblemFields, type Schemas, ServiceProblem } from 'computation-management-client';
import { hash } from 'node:crypto';
import { mkdtempSync, openAsBlob, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fileFault, hasNoPlace, linkConflict } from '../../../../packages/console/assets/asset-texts.ts';
import { readFileKey } from '../../../../packages/console/assets/file-key.ts';
import { contains, readOn } from '../../../../packages/console/assets/read-on.ts';
import { expectReadable, expectSize, type Step, uploadFile } from '../../../../packages/console/assets/upload-file.ts';
import { hasWork } from '../../../../packages/console/routing/unsaved-work.ts';

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

describe('the key of a file', () => {
  it('is 32 bytes in base64, as cms encrypt writes them', async () => {
    const base64 = btoa('k'.repeat(32));
    expect(await readFileKey(new File([`${base64}\n`], 'a.key'))).toEqual({
      base64,
      fingerprint: hash('sha256', 'k'.repeat(32)),
    });
  });

  it.each(['', 'nonsense', btoa('k'.repeat(31)), 'A'.repeat(5_000)])('is refused from the text %s', async (text) => {
    expect(await readFileKey(new File([text], 'a.key'))).toMatch(/^This is no key of a file/);
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

const rows = Array.from({ length: 700 }, (_, index) => row(`file-${index}.csv`));

describe('the assets to choose from', () => {
  it('are read on until a page has one that is wanted', async () => {
    const { readPage, offsets } = listOf(rows);
    const read = await readOn(readPage, undefined, ({ id }) => id === 'file-250.csv');
    expect(offsets).toEqual([0, 100, 200]);
    expect(read).toMatchObject({ offset: 300, total: 700 });
  });

  it('are read five pages at a time while none is wanted, and no page twice', async () => {
    const { readPage, offsets } = listOf(rows);
    const first = await readOn(readPage, undefined, () => false);
    expect(first.offset).toBe(500);
    const second = await readOn(readPage, first, () => false);
    expect(offsets).toEqual([0, 100, 200, 300, 400, 500, 600]);
    expect(second.assets).toEqual(rows);
    expect(await readOn(readPage, second, () => false)).toEqual(second);
    expect(offsets).toHaveLength(7);
  });

  it('come once each if an asset is created meanwhile', async () => {
    const first = await readOn(listOf(rows).readPage, undefined, () => true);
    const second = await readOn(listOf([row('new.csv'), ...rows]).readPage, first, () => true);
    expect(second.assets).toEqual(rows.slice(0, 199));
  });

  it('end if the list has become shorter', async () => {
    const { readPage } = listOf([]);
    expect(await readOn(readPage, { assets: [], offset: 100, total: 700 }, () => true)).toMatchObject({
      offset: 100,
      total: 100,
    });
  });

  it.each([' FILE-1 ', 'dataset', 'bob', ''])('are found by %j', (text) => {
    expect(contains(row('file-1.csv'), text)).toBe(true);
  });

  it('are not found by other text', () => {
    expect(contains(row('file-1.csv'), 'alice')).toBe(false);
  });
});

function listOf(all: Schemas['AssetRow'][]) {
  const offsets: number[] = [];
  const readPage = (offset: number) => {
    offsets.push(offset);
    return Promise.resolve({ items: all.slice(offset, offset + 100), total: all.length });
  };
  return { readPage, offsets };
}

function row(file_name: string): Schemas['AssetRow'] {
  return {
    id: file_name,
    file_name,
    description: '',
    asset_type: 'dataset',
    mime_type: '',
    size: 1,
    state: 'ready',
    checksum: '',
    created_by: 'bob',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    content_access: 'creator',
    use: 'open',
    source: null,
    kbs: null,
    decompress: null,
    algo_type: null,
    algo_args: null,
  };
}

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

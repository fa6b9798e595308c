import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fetchToken } from 'computation-management-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const mebibyte = 1024 * 1024;
let sent = 0;

/** Storage that sends as many bytes as its address says, then ends; that never ends; or that refuses. */
const storage = createServer((request, response) => {
  const [, kind, size] = (request.url ?? '').split('/');
  sent = 0;
  if (kind === 'refused') return void response.writeHead(403).end('<Error/>');
  const part = Buffer.alloc(65_536, 7);
  const write = () => {
    if (kind === 'sized' && sent >= Number(size)) return void response.end();
    if (kind === 'silent' && sent > 0) return;
    const next = part.subarray(0, kind === 'sized' ? Number(size) - sent : part.length);
    sent += next.length;
    if (!response.destroyed) response.write(next, () => setImmediate(write));
  };
  write();
});
const at = (path: string) => ({
  download: { url: `http://127.0.0.1:${(storage.address() as AddressInfo).port}/${path}`, expires_at: '' },
});

beforeAll(async () => {
  storage.listen(0, '127.0.0.1');
  await once(storage, 'listening');
});
afterAll(() => {
  storage.closeAllConnections();
  storage.close();
});

describe('fetchToken', () => {
  it('returns a token of 1 MiB', async () => {
    const token = await fetchToken(at(`sized/${mebibyte}`));
    expect([token.length, token.every((byte) => byte === 7)]).toEqual([mebibyte, true]);
  });

  it.each([`sized/${mebibyte + 1}`, 'endless'])('refuses a larger one, and reads no more of it: %s', async (path) => {
    await expect(fetchToken(at(path))).rejects.toThrow('An attestation token could not be read: it is larger than 1 MiB.');
    expect(sent).toBeLessThan(16 * mebibyte); // what buffers take
  });

  it('says what storage answered', async () => {
    await expect(fetchToken(at('refused'))).rejects.toThrow('storage answered 403');
  });

  it('ends when its caller does, also while storage sends nothing more', async () => {
    const controller = new AbortController();
    const token = fetchToken(at('silent'), controller.signal);
    await expect.poll(() => sent).toBeGreaterThan(0);
    controller.abort(new Error('left the page'));
    await expect(token).rejects.toThrow('left the page');
  });
});

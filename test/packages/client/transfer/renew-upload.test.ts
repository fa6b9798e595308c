import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createClient } from '../../../../packages/client/index.ts';
import { renewUpload } from '../../../../packages/client/transfer/renew-upload.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const pending = { id: 'a1', file_name: 'penguins.csv', created_by: 'alice', state: 'pending' };
const link = { method: 'PUT', url: 'https://storage.example.com/a1', headers: {}, expires_at: '2026-01-01T00:00:00Z' };

/** Renews at a service that answers GET and PUT by these bodies, or by each of a list and then by its last. */
async function renewAt(answers: Record<string, object | object[]>, signal?: AbortSignal) {
  const requests: string[] = [];
  const client = createClient({
    baseUrl: 'https://api.example.com',
    domain: 'd1',
    token: 'x',
    fetch: async ({ method, headers }) => {
      requests.push(`${method} ${headers.get('if-match') ?? ''}`.trim());
      const bodies = [answers[method]].flat();
      const body = bodies[requests.filter((request) => request.startsWith(method)).length - 1] ?? bodies.at(-1);
      return body instanceof Response ? body.clone() : Response.json(body, { headers: { etag: '"7"' } });
    },
  });
  const upload = renewUpload(client, { id: 'a1', signal }).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(20 * 60_000);
  return { upload: await upload, requests };
}

const outdated = () => Response.json({ code: 'precondition_failed', detail: 'Changed.' }, { status: 412 });

describe('a new link for the content of an asset', () => {
  it('comes from a change of the asset, because reading it returns none', async () => {
    expect(await renewAt({ GET: pending, PUT: { ...pending, upload: link } })).toEqual({
      upload: link,
      requests: ['GET', 'PUT "7"'],
    });
  });

  it('is not needed if the content has arrived', async () => {
    expect(await renewAt({ GET: { ...pending, state: 'ready' } })).toEqual({ upload: undefined, requests: ['GET'] });
    expect(await renewAt({ GET: pending, PUT: { ...pending, state: 'ready' } })).toMatchObject({ upload: undefined });
  });

  it('is asked for anew if the asset was changed in between, and not needed if that was the arrival of its content', async () => {
    expect(await renewAt({ GET: pending, PUT: [outdated(), { ...pending, upload: link }] })).toMatchObject({ upload: link });
    expect(await renewAt({ GET: [pending, { ...pending, state: 'ready' }], PUT: outdated() })).toEqual({
      upload: undefined,
      requests: ['GET', 'PUT "7"', 'GET'],
    });
  });

  it('is asked for a few times and with pauses while every change is outdated, and then given up', async () => {
    const { upload, requests } = await renewAt({ GET: pending, PUT: outdated() });
    expect(upload).toMatchObject({ code: 'precondition_failed' });
    const puts = requests.filter((request) => request.startsWith('PUT')).length;
    expect(puts).toBeGreaterThanOrEqual(5);
    expect(puts).toBeLessThan(30);
  });

  it('is not asked for again after its signal has aborted', async () => {
    const ending = new AbortController();
    setTimeout(() => ending.abort(new Error('Ctrl-C')), 10);
    const { upload, requests } = await renewAt({ GET: pending, PUT: outdated() }, ending.signal);
    expect(upload).toMatchObject({ message: 'Ctrl-C' });
    expect(requests).toHaveLength(2);
  });

  it('is refused to others than the creator', async () => {
    const { upload } = await renewAt({ GET: pending, PUT: pending });
    expect(upload).toMatchObject({ code: 'forbidden', detail: 'Only alice uploads the content of penguins.csv.' });
  });
});

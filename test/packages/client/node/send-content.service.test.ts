import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listen } from '../../../../local/machine/listen.ts';
import { createClient } from '../../../../packages/client/calls/create-client.ts';
import type { Schemas } from '../../../../packages/client/generated/api-types.ts';
import { sendContent } from '../../../../packages/client/node/send-content.ts';

const folder = mkdtempSync(join(tmpdir(), 'send-'));
const file = join(folder, 'a.csv');
const refused = '<Error><Code>AccessDenied</Code><Message>Not by this policy.</Message></Error>';
let answers: { status: number; body?: string }[] = [];
let links: string[] = [];
const server = createServer((request, response) => {
  links.push(request.url ?? '');
  const { status, body } = answers.shift() ?? { status: 200 };
  request.resume().on('end', () => response.writeHead(status).end(body));
});
let storage: Awaited<ReturnType<typeof listen>>;

beforeAll(async () => {
  writeFileSync(file, 'a\n');
  storage = await listen(server, 0);
});
afterAll(async () => {
  await storage.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => void (links = []));

const created = { id: 'a1', state: 'pending', file_name: 'a.csv', description: 'at first' } as Schemas['Asset'];
const link = (name: string) => ({ method: 'PUT' as const, url: `${storage.endpoint}/${name}`, headers: {}, expires_at: '' });

/** Sends the file to a storage with these answers. @param lostChanges how many changes are refused, because of another change */
async function sendTo(given: typeof answers, lostChanges = 0) {
  answers = given;
  const changes: { description: string; ifMatch: string | null }[] = [];
  let reads = 0;
  const client = createClient({
    baseUrl: 'https://service.test',
    domain: 'd1',
    fetch: async (request) => {
      if (request.method === 'GET') {
        const state = answers.length === 0 && links.length > 0 ? 'ready' : 'pending';
        const headers = { etag: `"${++reads}"` };
        return Response.json({ ...created, description: 'changed meanwhile', state }, { headers });
      }
      const { asset } = (await request.json()) as { asset: { description: string } };
      changes.push({ description: asset.description, ifMatch: request.headers.get('if-match') });
      if (changes.length <= lostChanges) return Response.json({ code: 'precondition_failed', message: 'x' }, { status: 412 });
      return Response.json({ ...asset, upload: link('second') });
    },
  });
  const sent = sendContent(client, { ...created, upload: link('first') }, statSync(file), { file });
  const outcome = await sent.catch((error: unknown) => error);
  return { outcome, changes };
}

describe('sending content to storage', () => {
  it('is repeated when the content arrived too slowly', async () => {
    const { outcome, changes } = await sendTo([{ status: 400, body: '<Code>RequestTimeout</Code>' }, { status: 200 }]);
    expect(outcome).toMatchObject({ state: 'ready' });
    expect([links, changes]).toEqual([['/first', '/first'], []]);
  });

  it('renews an expired link with the asset as it is now, and with its version', async () => {
    const { changes } = await sendTo([{ status: 403 }, { status: 200 }]);
    expect(links).toEqual(['/first', '/second']);
    expect(changes).toEqual([{ description: 'changed meanwhile', ifMatch: '"1"' }]);
  });

  it('reads the asset again if it is changed while the link is renewed', async () => {
    const { changes } = await sendTo([{ status: 403 }, { status: 200 }], 1);
    expect(links).toEqual(['/first', '/second']);
    expect(changes.map(({ ifMatch }) => ifMatch)).toEqual(['"1"', '"2"']);
  });

  it('ends with what storage says if it refuses a link that was just made', async () => {
    const { outcome } = await sendTo([{ status: 403 }, { status: 403, body: refused }, { status: 200 }]);
    expect(links).toEqual(['/first', '/second']);
    expect(outcome).toMatchObject({ code: 'unexpected', status: 403, detail: expect.stringContaining('Not by this policy.') });
  });
});

import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { listen, type Listening } from '../../../local/machine/listen.ts';
import { connectCvm } from '../../../packages/simulated-cvm/simulated-connection.ts';
import { startSimulatedCvms } from '../../../packages/simulated-cvm/simulated-cvms.ts';
import { untilTestEnds } from '../../support/patience.ts';

interface Seen {
  url: string;
  authorization: string;
  body: string;
}

let server: Server;
let service: Listening;
let seen: Seen[];
/** The statuses that the service answers in order; 0 breaks the connection. */
let answers: number[];

beforeEach(async () => {
  seen = [];
  server = createServer((request, response) => {
    void text(request).then((body) => {
      seen.push({ url: request.url ?? '', authorization: request.headers.authorization ?? '', body });
      const status = answers.shift() ?? 200;
      if (status === 0) response.destroy();
      else
        response
          .writeHead(status)
          .end(JSON.stringify(request.method === 'GET' ? { commands: [], run: null } : { results: [{ run_status: 'running' }] }));
    });
  });
  service = await listen(server, 0);
});

afterEach(async () => {
  server.closeAllConnections();
  await service.stop();
});

function connect(closing = new AbortController().signal) {
  let tokens = 0;
  const token = async (domain: string) => `${domain}-${String(++tokens)}`;
  return connectCvm({ baseUrl: service.endpoint, domain: 'd1', cvmId: 'sim-1', token, closing });
}

const heartbeat = { type: 'heartbeat', run_id: 'r1' } as const;

describe('connectCvm', () => {
  it('repeats a report with the same identifier while the service is unavailable or the connection breaks', async () => {
    answers = [503, 0, 429];
    expect(await connect().report(heartbeat, heartbeat)).toBe('running');
    expect(seen).toHaveLength(4);
    expect(new Set(seen.map(({ body }) => body)).size).toBe(1);
    const { reports } = JSON.parse(seen[0]?.body ?? '') as { reports: { id: string }[] };
    expect(new Set(reports.map(({ id }) => id)).size).toBe(2);
  });

  it('requests commands with a token, and requests a new token when that one has expired', async () => {
    answers = [401];
    expect(await connect().work()).toEqual({ commands: [], run: null });
    expect(seen.map(({ authorization }) => authorization)).toEqual(['Bearer d1-1', 'Bearer d1-2']);
    expect(seen[0]?.url).toBe('/d1/cvms/sim-1/commands');
  });

  it('throws a ServiceProblem without a retry when the service refuses a request', async () => {
    answers = [404];
    await expect(connect().report(heartbeat)).rejects.toMatchObject({ name: 'ServiceProblem', status: 404 });
    expect(seen).toHaveLength(1);
  });

  it('stops its retries when it is closed', async () => {
    answers = Array.from({ length: 100 }, () => 503);
    const closing = new AbortController();
    const sending = connect(closing.signal).report(heartbeat);
    closing.abort();
    await expect(sending).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('simulated CVMs', () => {
  it('name the CVM whose request the service refused', async () => {
    answers = [403];
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const given = {
      baseUrl: service.endpoint,
      token: () => Promise.resolve('token'),
      listClaimedCvms: () => Promise.resolve([{ domain: 'd1', cvm_id: 'sim-1', run_id: 'r1' }]),
    };
    const cvms = startSimulatedCvms(given);
    const said = expect.stringMatching(/^Simulated CVM sim-1: /);
    await vi.waitFor(() => expect(written.mock.calls).toEqual([[said]]), untilTestEnds);
    await cvms.stop();
    written.mockRestore();
  });
});

import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect } from 'vitest';
import { routes, type RouteName } from '../../shared/endpoints/endpoints.ts';
import type { Route } from '../../shared/http/route.ts';
import type { CallRequest, Refusal } from '../support/client.ts';
import { strictPolicy } from '../support/strict-policy.ts';
import { beforeAllAs, itAs, newCvm, useSession } from '../support/session.ts';

const session = useSession();
const absent = '00000000-0001-8c3a-9f0e-2b7d41c5e6a8';
const cvmID = newCvm();
const things = { computation: '', asset: '', run: '' };

beforeAll(async () => {
  things.computation = await session.readyComputation();
  things.asset = (await session.createAsset()).id;
  await session.link(things.asset, things.computation);
  things.run = await session.startRun(things.computation, cvmID);
});

const asset = { asset: { file_name: 'x.csv', asset_type: 'dataset' } };
const key = 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=';
/** The bodies that these routes need to get as far as the thing that the path names. */
const bodies: Partial<Record<RouteName, unknown>> = {
  'computations/update-computation': { name: 'N' },
  'keys/upload-key': { key },
  'assets/update-asset': asset,
  'approvals/approve': { digest: '0'.repeat(64), configuration_digest: '0'.repeat(64) },
  'results/hand-in-result': { file_name: 'x.csv', size: 1, checksum: '0'.repeat(64) },
  'results/decide-result': { decision: 'release', checksum: '0'.repeat(64) },
  'releases/answer-release': { refusal: 'Not mine.' },
  'assets/set-asset-key': { held: 'party', fingerprint: '0'.repeat(64), release_policy: strictPolicy },
};
/** The endpoints that need to know which run of the computation is meant. */
const ofRuns: RouteName[] = ['evidence/get-evidence', 'results/hand-in-result', 'results/decide-result', 'results/get-result'];

const naming = (routes as readonly Route[]).filter((route) => route.path.includes('{id}'));

/** Sends a request of the outsider in their own domain with identifiers of another one. */
async function refusedThere(route: Route, id: string, computationID: string): Promise<Partial<Refusal>> {
  const name = route.name as RouteName;
  const request = {
    method: route.method,
    as: 'outsider',
    body: bodies[name],
    ...(name === 'runs/start-run' ? { query: { cvm: newCvm() } } : {}),
    ...(ofRuns.includes(name) ? { query: { run: things.run } } : {}),
    path: { domainID: session.target.otherDomain, id, computationID },
  };
  const { request_id: _, ...refusal } = (await session.refused(name, request as unknown as CallRequest<RouteName>)) as Refusal & {
    request_id: string;
  };
  return refusal;
}

describe('a request with identifiers of another domain', () => {
  for (const route of naming) {
    itAs(['outsider'], `gets the 404 of a missing resource: ${route.method} ${route.path}`, async () => {
      const id = route.path.includes('/assets/') ? things.asset : things.computation;
      const foreign = await refusedThere(route, id, things.computation);
      expect(foreign).toMatchObject({ status: 404, code: 'not_found' });
      expect(foreign).toEqual(await refusedThere(route, absent, absent));
    });
  }

  itAs(['outsider'], 'changes nothing in that domain', async () => {
    const { events } = await session.done('events/list-events', { path: { id: things.computation }, query: { limit: 100 } });
    const outsider = session.target.idOf('outsider');
    expect(events.filter(({ originator }) => originator === outsider)).toEqual([]);
    expect(events.map(({ event_type }) => event_type)).toContain('started');
    expect((await session.done('runs/get-run', { path: { id: things.computation } })).status).toBe('running');
  });
});

describe('a request for a resource of the own domain', () => {
  const own = { assets: [] as string[], computations: [] as string[] };
  const home = () => ({ domainID: session.target.otherDomain });

  beforeAllAs(['outsider'], async () => {
    const computation = await session.done('computations/create-computation', {
      path: home(),
      body: { name: 'N' },
      as: 'outsider',
    });
    const { id } = await session.done('assets/create-asset', { path: home(), body: asset, as: 'outsider' });
    own.computations.push(computation.id);
    own.assets.push(id);
    return async () => {
      await session.done('computations/delete-computation', { path: { ...home(), id: computation.id }, as: 'outsider' });
      await session.done('assets/delete-asset', { path: { ...home(), id }, as: 'outsider' });
    };
  });

  itAs(['outsider'], 'answers 404 to a link or unlink with a resource of another domain', async () => {
    const [id = '', computationID = ''] = [own.assets[0], own.computations[0]];
    for (const name of ['assets/link-asset', 'assets/unlink-asset'] as const) {
      const ownAsset = { path: { ...home(), id, computationID: things.computation }, as: 'outsider' as const };
      const ownComputation = { path: { ...home(), id: things.asset, computationID }, as: 'outsider' as const };
      expect((await session.refused(name, ownAsset)).code).toBe('not_found');
      expect((await session.refused(name, ownComputation)).code).toBe('not_found');
    }
  });

  itAs(['outsider'], 'answers 404 to a run or manifest of another domain', async () => {
    const [id = ''] = own.computations;
    for (const name of ['runs/get-run', 'runs/get-manifest'] as const) {
      const refused = await session.refused(name, { path: { ...home(), id }, query: { run: things.run }, as: 'outsider' });
      expect(refused).toMatchObject({ status: 404, code: 'not_found' });
    }
  });
});

describe('a CVM of the same name in another domain', () => {
  itAs(['outsider'], 'gets no commands and no run, and its reports change nothing', async () => {
    const path = { domainID: session.target.otherDomain, cvmID };
    expect(await session.done('cvms/list-commands', { path, as: 'outsider' })).toEqual({ commands: [], run: null });
    const reports = [{ id: randomUUID(), run_id: things.run, type: 'event', event_type: 'Complete', status: 'Completed' }];
    const { accepted, results } = await session.done('cvms/report', { path, body: { reports }, as: 'outsider' });
    expect({ accepted, results }).toMatchObject({ accepted: 0, results: [{ outcome: 'unknown_run', run_status: null }] });
    expect((await session.done('runs/get-run', { path: { id: things.computation } })).status).toBe('running');
    await session.endRun(cvmID);
    expect((await session.done('runs/get-run', { path: { id: things.computation } })).status).toBe('completed');
  });
});

import { expect, it } from 'vitest';
import { base64, newCvm, publicKey, useSession } from '../support/session.ts';
import { privateKey } from '../support/suite-state.ts';

const session = useSession();

/** Calls the service as the examples of the specification do: with its fields alone, and the domain in the query too. */
async function send(method: string, path: string, { query = {}, body }: { query?: Record<string, string>; body?: object } = {}) {
  const { baseUrl, domain, tokenOf } = session.target;
  const search = new URLSearchParams({ ...query, domainID: domain }).toString();
  const response = await fetch(`${baseUrl}/${domain}${path}?${search}`, {
    method,
    headers: {
      authorization: `Bearer ${tokenOf('administrator')}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (text === '' ? undefined : JSON.parse(text)) as Record<string, unknown>,
  };
}

const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

it('A client that knows only the fields and the 24 endpoints of the specification runs a computation and removes all of it', async () => {
  const owner = session.target.idOf('administrator');
  const agent_config = {
    log_level: 'info',
    cert_file: 'certificate',
    server_key: privateKey(),
    server_ca_file: '',
    client_ca_file: '',
    attested_tls: false,
  };
  const fields = { name: 'Average', description: 'By region', owner, agent_config };
  const created = await send('POST', '/computations', { body: fields }); // 1
  const id = String(created.body['id']);
  expect([created.status, created.headers.get('HX-Location')]).toEqual([201, `/computations/${id}`]);

  const listed = await send('GET', '/computations', { query: { limit: '100' } }); // 2
  expect(listed).toMatchObject({ status: 200, body: { limit: 100, offset: 0, total: expect.any(Number) } });
  const row = { id, name: 'Average', description: 'By region', owner, status: 'created', created_at: at };
  expect(listed.body['computations']).toContainEqual(expect.objectContaining(row));
  expect(await send('GET', `/computations/${id}`)).toMatchObject({ status: 200, body: { ...row, agent_config } }); // 3
  const peeked = await send('GET', `/computations/${id}`, { query: { peek: 'true' } });
  expect(peeked.body).not.toHaveProperty('agent_config');
  const replaced = await send('PUT', `/computations/${id}`, { body: { ...fields, name: 'Mean' } }); // 4
  expect(replaced).toMatchObject({ status: 200, body: { name: 'Mean', agent_config } });

  const file = { description: '', mime_type: 'text/plain', user_key: publicKey() };
  const [algorithmFile, datasetFile] = [
    { ...file, file_name: 'mean.py', asset_type: 'algorithm', asset: base64('print(1)') },
    { ...file, file_name: 'incomes.csv', asset_type: 'dataset', asset: base64('a,b\n') },
  ];
  const algorithm = await send('POST', '/assets', { body: { asset: algorithmFile } }); // 15
  const dataset = await send('POST', '/assets', { body: { asset: datasetFile } });
  expect([algorithm.status, dataset.status]).toEqual([201, 201]);
  const [algorithmId, datasetId] = [String(algorithm.body['id']), String(dataset.body['id'])];
  const assets = await send('GET', '/assets', { query: { limit: '2' } }); // 16
  expect(assets.body).toMatchObject({ assets: [{ id: datasetId, created_at: at }, { id: algorithmId }], limit: 2, offset: 0 });
  const read = await send('GET', `/assets/${datasetId}`); // 17
  expect(read).toMatchObject({ status: 200, body: { file_name: 'incomes.csv', asset: base64('a,b\n') } });
  const update = { asset: { ...datasetFile, asset: base64('c,d\n') } };
  expect((await send('PUT', `/assets/${datasetId}`, { body: update })).status).toBe(200); // 18
  for (const asset of [algorithmId, datasetId]) expect((await send('POST', `/assets/${asset}/${id}`)).status).toBe(200); // 20
  expect((await send('GET', `/assets/${datasetId}/computations`)).body).toMatchObject({ computations: [{ id }], total: 1 }); // 21

  expect((await send('GET', `/computations/${id}/key`)).body).toEqual({ uploaded: false }); // 11
  const checked = await send('POST', `/computations/${id}/dryrun`); // 12
  expect(checked.body).toEqual({ missing_items: { keys: [owner], hashes: [], info: [] } });
  expect((await send('POST', `/computations/${id}/key`, { body: { key: publicKey() } })).status).toBe(200); // 10
  expect((await send('POST', `/computations/${id}/dryrun`)).body).toEqual({ missing_items: { keys: [], hashes: [], info: [] } });
  expect((await send('GET', `/computations/${id}/manifest`)).body).toMatchObject({ id, datasets: [{ filename: 'incomes.csv' }] }); // 14

  const cvm = newCvm();
  const run = await send('POST', `/computations/${id}/run`, { query: { cvm } }); // 6
  expect([run.status, typeof run.body]).toEqual([200, 'string']);
  await session.endRun(cvm);
  expect((await send('GET', `/computations/${id}/run`)).body).toMatchObject({ id: run.body, cvm_id: cvm, status: 'completed' }); // 7
  const runs = await send('GET', '/computations/runs'); // 8
  expect(runs.body).toMatchObject({
    limit: 10,
    offset: 0,
    runs: expect.arrayContaining([expect.objectContaining({ id: run.body })]),
  });
  const statistics = await send('GET', '/computations/statistics', { query: { days: '2' } }); // 9
  expect(statistics.body).toMatchObject({
    comp_stats: expect.arrayContaining([
      { day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), status: 'completed', count: expect.any(Number) },
    ]),
  });
  const query = { limit: '1', offset: '0', from: '2025-07-17T08:00:00Z', to: '2999-12-31T00:00:00Z', status: 'success' };
  const events = await send('GET', `/computations/${id}/events`, { query }); // 23
  const last = { event_type: 'completed', status: 'success', run_id: run.body, originator: 'system', cvm_id: cvm, timestamp: at };
  expect(events.body).toMatchObject({ limit: 1, offset: 0, total: expect.any(Number), events: [last] });
  expect((await send('GET', `/computations/${id}/status`)).body).toMatchObject(last); // 24

  const again = await send('POST', `/computations/${id}/run`, { query: { cvm } });
  const { id: command_id, run_id } = await session.commandFor(cvm, 'run');
  await session.report(cvm, { run_id, type: 'accepted', command_id });
  expect(await send('GET', `/computations/${id}/stop`)).toMatchObject({
    status: 200,
    body: { id: again.body, status: 'stopping' },
  }); // 13
  await session.report(cvm, { run_id, type: 'event', event_type: 'Stopped', status: 'Stopped' });
  await session.untilStatus(id, 'cancelled');

  expect((await send('PUT', `/assets/${datasetId}/${id}`)).status).toBe(200); // 22
  for (const asset of [algorithmId, datasetId]) expect((await send('DELETE', `/assets/${asset}`)).status).toBe(204); // 19
  expect((await send('DELETE', `/computations/${id}`)).status).toBe(204); // 5
});

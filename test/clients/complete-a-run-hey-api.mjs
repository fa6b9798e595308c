// Completes a run with the client that hey-api generated into the folder `api`.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import * as cms from './api/index';
import { createClient } from './api/client/index';

const { BASE, TOKEN, KEY } = process.env;
const client = createClient({ baseUrl: BASE, auth: TOKEN, throwOnError: true });
const done = async (operation, { path, ...options }) => {
  const { data } = await operation({ client, path: { domainID: 'd1', ...path }, ...options });
  return data;
};

const { id } = await done(cms.createComputation, { body: { name: 'hey-api' } });
const fields = { file_name: 'a.py', asset_type: 'algorithm', asset: 'cHJpbnQoMSk=' };
const asset = await done(cms.createAsset, { body: { asset: fields } });
await done(cms.linkAsset, { path: { id: asset.id, computationID: id } });
await assert.rejects(done(cms.startRun, { path: { id }, query: { cvm: 'sim-1' } }), { code: 'incomplete' });
await done(cms.uploadKey, { path: { id }, body: { key: KEY } });
const runId = await done(cms.startRun, { path: { id }, query: { cvm: 'sim-1' } });
let run = await done(cms.getRun, { path: { id } });
while (run.ended_at === null) {
  await pause(200);
  run = await done(cms.getRun, { path: { id } });
}
assert.deepEqual([run.id, run.status], [runId, 'completed']);
assert.equal((await done(cms.getComputation, { path: { id } })).run?.status, 'completed');
console.log(run.status);

// Completes a run with the generated typescript-fetch client, which was compiled into the folder `built`.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import * as cms from './built/index.js';

const { BASE, TOKEN, KEY } = process.env;
const configuration = new cms.Configuration({ basePath: BASE, accessToken: TOKEN });
const computations = new cms.ComputationsApi(configuration);
const assets = new cms.AssetsApi(configuration);
const runs = new cms.RunsApi(configuration);
const domainID = 'd1';

const { id } = await computations.createComputation({ domainID, computationInput: { name: 'TypeScript' } });
const fields = { fileName: 'a.py', assetType: 'algorithm', asset: 'cHJpbnQoMSk=' };
const asset = await assets.createAsset({ domainID, assetInput: { asset: fields } });
await assets.linkAsset({ domainID, id: asset.id, computationID: id });
await new cms.KeysApi(configuration).uploadKey({ domainID, id, keyInput: { key: KEY } });
const runId = await runs.startRun({ domainID, id, cvm: 'sim-1' });
let run = await runs.getRun({ domainID, id });
while (run.endedAt === null) {
  await pause(200);
  run = await runs.getRun({ domainID, id });
}
assert.deepEqual([run.id, run.status], [runId, 'completed']);
assert.equal((await computations.getComputation({ domainID, id })).run?.status, 'completed');
console.log(run.status);

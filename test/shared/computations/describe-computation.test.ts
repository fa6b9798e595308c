import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../shared/http/caller.ts';
import { defaultAgentConfig } from '../../../shared/rows/agent-config.ts';
import { computationEtag, etagsFor, peekEtag } from '../../../shared/computations/describe-computation.ts';
import type { StoredComputation } from '../../../shared/rows/computation.ts';
import type { Run } from '../../../shared/rows/run.ts';
import { aComputationRow } from '../../support/builders-store.ts';
import { sealedAs } from '../../support/sealed-as.ts';
import type { Definition } from '../../../shared/rows/definition.ts';

const id = '00000000-0001-8c3a-9f0e-2b7d41c5e6a8';
const now = '2025-07-17T08:00:00.000Z';
const later = '2025-07-17T08:00:00.001Z';
const row = aComputationRow(id, { description: 'Irises', status: 'running', version: 3 });
const run: Run = {
  id,
  computation_id: id,
  cvm_id: 'cvm-1',
  status: 'running',
  started_at: now,
  ended_at: null,
  started_by: 'alice',
  reason: null,
  reason_code: null,
  result: null,
  manifest_digest: 'ab'.repeat(32),
  configuration_digest: 'cd'.repeat(32),
};
const dataset = { asset_id: id, file_name: 'a.csv', asset_type: 'dataset' as const, created_by: 'bob', linked_as: 2 };
const definition: Definition = {
  agent_config: defaultAgentConfig,
  attestation_policy: null,
  result_review: null,
  consumers: [],
  providers: [],
  algorithm: undefined,
  datasets: [dataset],
  acts: [],
  policy_changes: [],
  consumer_changes: [],
};
const withConfig = (config: Partial<Definition['agent_config']>): Definition => ({
  ...definition,
  agent_config: { ...defaultAgentConfig, ...config },
});

const alice: Caller = { id: 'alice', roles: new Set(['viewer']), actions: new Set(['view']) };
const viewer: Caller = { ...alice, id: 'bob' };
const etagFor = (caller: Caller, shown = row, parts = definition) => computationEtag(caller, shown, parts);

describe('computationEtag', () => {
  it('is a strong tag of 32 characters that depends on the answer alone', () => {
    expect(etagFor(alice)).toMatch(/^"[\w-]{32}"$/);
    const reordered = Object.fromEntries(Object.entries(row).reverse()) as StoredComputation;
    expect(etagFor(alice, reordered, structuredClone(definition))).toBe(etagFor(alice));
  });

  it.each<[string, StoredComputation, Definition]>([
    ['name', { ...row, name: 'Iris 2' }, definition],
    ['description', { ...row, description: '' }, definition],
    ['owner', { ...row, owner: 'carol' }, definition],
    ['status', { ...row, status: 'stopping' }, definition],
    ['updated_at', { ...row, updated_at: later }, definition],
    ['run', { ...row, run }, definition],
    ['log level', row, withConfig({ log_level: 'debug' })],
    ['certificate', row, withConfig({ cert_file: '/cert' })],
    ['TLS', row, withConfig({ attested_tls: true })],
    ['private key', row, withConfig({ server_key: sealedAs('the key') })],
    ['link', row, { ...definition, datasets: [{ ...dataset, asset_id: '00000000-0002-8c3a-9f0e-2b7d41c5e6a8' }] }],
    ['file name of a link', row, { ...definition, datasets: [{ ...dataset, file_name: 'b.csv' }] }],
    ['order of the links', row, { ...definition, datasets: [{ ...dataset, file_name: 'b.csv' }, dataset] }],
    ['number of links', row, { ...definition, datasets: [] }],
    ['algorithm', row, { ...definition, algorithm: { ...dataset, asset_type: 'algorithm' } }],
  ])('changes with the %s', (_what, changed, parts) => {
    expect(etagFor(alice, changed, parts)).not.toBe(etagFor(alice));
  });

  it('changes with each field of the run', () => {
    const changes: Partial<Run>[] = [{ status: 'failed' }, { ended_at: later }, { reason: 'Lost.' }, { cvm_id: 'cvm-2' }];
    const etags = [{}, ...changes].map((change) => etagFor(alice, { ...row, run: { ...run, ...change } }));
    expect(new Set(etags).size).toBe(5);
  });

  it('stays when something changes that the caller does not see', () => {
    expect(etagFor(alice, { ...row, version: 4, dataset_count: 1 })).toBe(etagFor(alice));
    expect(etagFor(viewer, row, withConfig({ server_key: sealedAs('the key') }))).toBe(etagFor(viewer));
  });

  it('changes when the caller begins to see the private key', () => {
    const editor: Caller = { ...viewer, actions: new Set(['view', 'edit']) };
    expect(etagFor(editor)).not.toBe(etagFor(viewer));
    expect(etagFor(editor)).toBe(etagFor(alice));
  });
});

describe('peekEtag', () => {
  it('changes with every version of the row, and so with every change of the configuration and the links', () => {
    expect(peekEtag({ ...row, version: 4 })).not.toBe(peekEtag(row));
    expect(peekEtag({ ...row, run })).toBe(peekEtag(row));
  });
});

describe('etagsFor', () => {
  it('has the tag of the whole computation as the caller sees it, and that of its row', () => {
    expect(etagsFor(viewer, row, definition)).toEqual([etagFor(viewer), peekEtag(row)]);
  });
});

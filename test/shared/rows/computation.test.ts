import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { defaultAgentConfig } from '../../../shared/rows/agent-config.ts';
import {
  computationInput,
  computationReplacement,
  computationSchema,
  storedComputation,
} from '../../../shared/rows/computation.ts';

const id = '00000000-0001-8c3a-9f0e-2b7d41c5e6a8';
const now = '2025-07-17T08:00:00.000Z';
const run = {
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
const row = { id, name: 'Iris', description: 'Irises', owner: 'alice', status: 'running', created_at: now, updated_at: now };
const assets = [
  { id, file_name: 'a.py', asset_type: 'algorithm' },
  { id, file_name: 'a.csv', asset_type: 'dataset' },
];
const defaults = { description: '', agent_config: defaultAgentConfig };

describe.each([
  ['computationInput', computationInput],
  ['computationReplacement', computationReplacement],
])('%s', (_name, schema) => {
  const users = (count: number) => Array.from({ length: count }, (_, index) => `user-${index}`);

  it.each<[string, unknown[], unknown[]]>([
    ['name', ['x', 'x'.repeat(200)], ['', 'x'.repeat(201)]],
    ['description', ['x'.repeat(4000)], ['x'.repeat(4001)]],
    ['owner', ['x', 'x'.repeat(255)], ['', 'x'.repeat(256)]],
    ['approval', ['all', 'all_signed'], ['some', null]],
    ['consumers', [users(40)], [users(41), [''], 'bob']],
  ])('limits %s', (field, taken, refused) => {
    const isTaken = (value: unknown) => v.safeParse(schema, { name: 'Iris', [field]: value }).success;
    expect(taken.map(isTaken)).toEqual(taken.map(() => true));
    expect(refused.map(isTaken)).toEqual(refused.map(() => false));
  });

  it('names each consumer once, in the given order', () => {
    expect(v.parse(schema, { name: 'Iris', consumers: ['dave', 'bob', 'dave'] }).consumers).toEqual(['dave', 'bob']);
  });
});

describe('computationInput', () => {
  it('fills in the fields that may be left out, but no owner, and takes no fields of an answer', () => {
    expect(v.parse(computationInput, { name: 'Iris' })).toEqual({
      name: 'Iris',
      ...defaults,
      approval: 'none',
      log_access: 'none',
      attestation_policy: null,
      result_review: null,
      consumers: [],
      providers: [],
    });
    expect(v.safeParse(computationInput, { name: 'Iris', id }).success).toBe(false);
  });
});

describe('computationReplacement', () => {
  it('takes a computation as the service returns it', () => {
    const returned = { ...row, agent_config: defaultAgentConfig, assets, parties: [], run };
    expect(v.safeParse(computationReplacement, returned).success).toBe(true);
  });

  it('leaves out what stays the same if it is left out', () => {
    expect(v.parse(computationReplacement, { name: 'Iris' })).toEqual({ name: 'Iris', ...defaults });
  });
});

describe('computationSchema', () => {
  it('returns every field of a computation, its assets and its run, and no other', () => {
    const computation = {
      ...row,
      agent_config: defaultAgentConfig,
      approval: 'all',
      log_access: 'parties',
      attestation_policy: null,
      result_review: null,
      consumers: ['bob'],
      providers: ['carol'],
      assets,
      parties: [{ user: 'alice', parts: ['owner', 'consumer'], invited: false }],
      run,
    };
    expect(v.parse(computationSchema, { ...computation, version: 1 })).toEqual(computation);
  });

  it('limits the consumers of an answer to as many as a request may name', () => {
    expect(v.getMetadata(computationSchema.entries.consumers)).toMatchObject({ maxItems: 40 });
  });
});

describe('storedComputation', () => {
  it('keeps every field that is stored', () => {
    const stored = {
      ...row,
      run,
      run_counts: { completed: 1 },
      version: 1,
      dataset_count: 3,
      created_by: 'alice',
      approval: 'all',
      log_access: 'parties',
      refusal_count: 0,
    };
    expect(v.parse(storedComputation, stored)).toEqual(stored);
  });
});

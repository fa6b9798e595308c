import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { defaultAgentConfig } from '../../../shared/computations/agent-config.ts';
import {
  computationInput,
  computationReplacement,
  computationSchema,
  storedComputation,
} from '../../../shared/computations/computation.ts';

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
  manifest_digest: 'ab'.repeat(32),
};
const row = { id, name: 'Iris', description: 'Irises', owner: 'alice', status: 'running', created_at: now, updated_at: now };
const assets = [
  { id, file_name: 'a.py', asset_type: 'algorithm' },
  { id, file_name: 'a.csv', asset_type: 'dataset' },
];

const isTaken = (fields: Record<string, unknown>) => v.safeParse(computationInput, { name: 'Iris', ...fields }).success;

describe('computationSchema', () => {
  it('limits the consumers of an answer to as many as a request may name', () => {
    const { maxItems } = v.getMetadata(computationSchema.entries.consumers);
    const consumers = (count: number) => Array.from({ length: count }, (_, index) => `user-${index}`);
    expect([isTaken({ consumers: consumers(maxItems) }), isTaken({ consumers: consumers(maxItems + 1) })]).toEqual([true, false]);
  });
});

describe('computationInput', () => {
  it('fills in the fields that may be left out, but no owner', () => {
    expect(v.parse(computationInput, { name: 'Iris' })).toEqual({
      name: 'Iris',
      description: '',
      agent_config: defaultAgentConfig,
      approval: 'none',
      consumers: [],
    });
  });

  it.each([
    { name: 'x' },
    { name: 'x'.repeat(200) },
    { description: 'x'.repeat(4000) },
    { owner: 'x' },
    { owner: 'x'.repeat(255) },
    { approval: 'all' },
    { approval: 'all_signed' },
    { consumers: Array.from({ length: 40 }, (_, index) => `user-${index}`) },
  ])('takes %j', (fields) => {
    expect(isTaken(fields)).toBe(true);
  });

  it.each([
    { name: '' },
    { name: 'x'.repeat(201) },
    { description: 'x'.repeat(4001) },
    { owner: '' },
    { owner: 'x'.repeat(256) },
    { approval: 'some' },
    { approval: null },
    { consumers: Array.from({ length: 41 }, (_, index) => `user-${index}`) },
    { consumers: [''] },
    { consumers: 'bob' },
    { id },
  ])('refuses %j', (fields) => {
    expect(isTaken(fields)).toBe(false);
  });
});

describe('computationReplacement', () => {
  it('takes a computation as the service returns it', () => {
    const returned = { ...row, agent_config: defaultAgentConfig, assets, run };
    expect(v.safeParse(computationReplacement, returned).success).toBe(true);
  });

  it('leaves out what stays the same if it is left out', () => {
    expect(v.parse(computationReplacement, { name: 'Iris' })).toEqual({
      name: 'Iris',
      description: '',
      agent_config: defaultAgentConfig,
      consumers: [],
    });
  });

  it('names each consumer once, in the given order', () => {
    const { consumers } = v.parse(computationReplacement, { name: 'Iris', consumers: ['dave', 'bob', 'dave'] });
    expect(consumers).toEqual(['dave', 'bob']);
  });

  it('takes owners of 1 to 255 characters', () => {
    const owners = ['', 'x', 'x'.repeat(255), 'x'.repeat(256)];
    const taken = owners.map((owner) => v.safeParse(computationReplacement, { name: 'Iris', owner }).success);
    expect(taken).toEqual([false, true, true, false]);
  });
});

describe('computationSchema', () => {
  it('returns every field of a computation, its assets and its run, and no other', () => {
    const computation = { ...row, agent_config: defaultAgentConfig, approval: 'all', consumers: ['bob'], assets, run };
    expect(v.parse(computationSchema, { ...computation, version: 1 })).toEqual(computation);
  });
});

describe('storedComputation', () => {
  it('keeps every field that is stored', () => {
    const stored = { ...row, run, version: 1, dataset_count: 3, approval: 'all' };
    expect(v.parse(storedComputation, stored)).toEqual(stored);
  });
});

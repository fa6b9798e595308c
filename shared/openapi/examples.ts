import type { GenericSchema } from 'valibot';
import type { KnownRoute } from '../endpoints/endpoints.ts';
import type { Route } from '../http/route.ts';
import { serviceVersion } from '../runtime/service-version.ts';

type Examples<R extends Route> = (R extends { body: GenericSchema } ? { request: unknown } : { request?: never }) &
  (R extends { response: GenericSchema } ? { response: unknown } : { response?: never });

const at = '2025-07-17T08:00:00.000Z';
const later = '2025-07-17T08:04:11.302Z';
export const computationId = '00000000-0007-8c3a-9f0e-2b7d41c5e6a8';
const assetId = '00000000-0003-8a51-b6d2-90c1f2e37f44';
export const runId = '00000000-002a-8b1f-9c3d-6f1a2b3c4d5e';
const eventId = '9f0c6a52-4a0e-4d6c-8a43-5d0f5f0e7c11';
const commandId = '3f1d0c2b-7a1e-4b52-9a76-0d9f1e2c3b4a';
const userKey = 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=';
const checksum = '4e64fd1cbf1d6e7ab9a2d9b35b8e0a5c3f1f4b9e0f4c6d3a1b2c3d4e5f60718a';
const hash = [...Buffer.from(checksum, 'hex')];
export const manifestDigest = '8a1e5d7fbb0f0c2b6f7ad2b4ce4a7f0f3e0c9f6a0b51c8d21f7d3f4b6a5c9e10';
export const configurationDigest = 'b2c9f0d4a7135e8816f3ca0d92b74e5f1d6c8a3b0e9f72415d8c6b3a90e1f7d2';
const content = 'c3BlY2llcyxpc2xhbmQK';
const keyId = 'y1mDWXSP0kLwpJdu0ZyYjhFZ0TFXv4LiWjXQy7uVvSY';

const computationBody = {
  name: 'Body mass by species',
  description: 'Penguins of the Palmer Archipelago',
  agent_config: { log_level: 'info' },
};

const computationRow = {
  id: computationId,
  name: 'Body mass by species',
  description: 'Penguins of the Palmer Archipelago',
  owner: 'alice',
  status: 'completed',
  created_at: at,
  updated_at: at,
};

const agentConfig = { log_level: 'info', cert_file: '', server_ca_file: '', client_ca_file: '', attested_tls: false };

const run = {
  id: runId,
  computation_id: computationId,
  cvm_id: 'sim-1',
  status: 'completed',
  started_at: at,
  ended_at: later,
  started_by: 'alice',
  reason: 'The CVM finished the run.',
  reason_code: null,
  result: null,
  manifest_digest: manifestDigest,
  configuration_digest: configurationDigest,
};

const { result: _, ...ranWithoutReview } = run;

const stoppingRun = { ...run, status: 'stopping', ended_at: null, reason: null };

const owner = { user: 'alice', parts: ['owner', 'consumer'], invited: false };

const computation = {
  ...computationRow,
  agent_config: agentConfig,
  approval: 'none',
  log_access: 'none',
  attestation_policy: null,
  result_review: null,
  consumers: [],
  providers: [],
  assets: [{ id: assetId, file_name: 'penguins.csv', asset_type: 'dataset' }],
  parties: [owner, { user: 'bob', parts: ['provider'], invited: false }],
  run,
};

const newComputation = { ...computation, status: 'created', assets: [], parties: [owner], run: null };

const assetBody = {
  asset: {
    file_name: 'penguins.csv',
    description: '344 penguins',
    asset_type: 'dataset',
    mime_type: 'text/csv',
    asset: content,
    user_key: userKey,
    content_access: 'creator',
    use: 'approval',
  },
};

const assetRow = {
  id: assetId,
  file_name: 'penguins.csv',
  description: '344 penguins',
  asset_type: 'dataset',
  mime_type: 'text/csv',
  state: 'ready',
  size: 15_241,
  checksum,
  content_access: 'creator',
  use: 'approval',
  source: null,
  kbs: null,
  decompress: null,
  algo_type: null,
  algo_args: null,
  created_by: 'bob',
  created_at: at,
  updated_at: at,
};

const asset = { ...assetRow, user_key: userKey };

const assetWithContent = { ...asset, asset: content, content_reads: [] };

export const manifest = {
  id: computationId,
  name: 'Body mass by species',
  description: 'Penguins of the Palmer Archipelago',
  datasets: [{ hash, user_key: userKey, filename: 'penguins.csv' }],
  algorithm: { hash, user_key: userKey },
  result_consumers: [{ user_key: userKey }],
};

const approvalBody = {
  digest: manifestDigest,
  configuration_digest: configurationDigest,
  cvm_ids: ['sim-1'],
  expires_at: '2025-08-17T08:00:00.000Z',
  journal_head: { id: eventId, hash: checksum },
  signature: 'pZwrfJ6nWYkoGP0h0S4e2BlQy4q4XkZqYqfP3m7oJpSg6qk5Vt6m1m8E5o1FQ0fQ6kq0i3dGvT2y9Qb0tN5VCg==',
};

const approval = {
  user: 'bob',
  digest: manifestDigest,
  configuration_digest: configurationDigest,
  cvm_ids: ['sim-1'],
  expires_at: '2025-08-17T08:00:00.000Z',
  max_runs: null,
  used_runs: null,
  approval_id: null,
  journal_head: { id: eventId, hash: checksum },
  signed: true,
  stale: false,
  stale_because: null,
  approved_at: at,
};

const refusal = {
  user: 'carol',
  reason: 'The ethics board has not met yet.',
  refused_at: at,
};

const todo = {
  approvals: [
    {
      computation_id: computationId,
      name: 'Body mass by species',
      because: ['penguins.csv'],
      manifest_digest: manifestDigest,
    },
  ],
  keys: [{ computation_id: computationId, name: 'Body mass by species' }],
  content: [{ asset_id: assetId, file_name: 'penguins.csv' }],
  reviews: [],
  refusals: [],
  invitations: [{ computation_id: computationId, name: 'Body mass by species', owner: 'alice', expected: ['provider'] }],
  totals: { approvals: 1, keys: 1, content: 1, reviews: 0, refusals: 0, invitations: 1 },
  as_of: later,
};

const event = {
  id: eventId,
  event_type: 'completed',
  status: 'success',
  originator: 'system',
  timestamp: later,
  run_id: runId,
  cvm_id: 'sim-1',
  details: 'eyJyZWFzb24iOiJUaGUgQ1ZNIGZpbmlzaGVkIHRoZSBydW4uIn0=',
  previous_hash: '9a3f51d8c2e04b7f6d1a85c39e72b4f08c5d6e1f2a3b4c5d6e7f8091a2b3c4d5',
  hash: '1c7e5a9d3b8f2064e1d5c9b7a3f80e6d4c2b1a09f8e7d6c5b4a3928170f6e5d4',
};

const startedEvent = {
  ...event,
  id: '2f6b0c1e-93b7-4e0d-8a52-7d1c0e9b4a36',
  event_type: 'started',
  originator: 'alice',
  timestamp: at,
  details: 'e30=',
};

const publicJwk = {
  kty: 'EC',
  crv: 'P-256',
  x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
  y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
  use: 'sig',
  alg: 'ES256',
  kid: keyId,
};

const evidence = {
  statement: {
    type: 'computation-evidence:v1',
    domain: 'd1',
    computation: computationId,
    run: ranWithoutReview,
    manifest,
    manifest_digest: manifestDigest,
    configuration: {
      agent_config: { cert_file: '', server_ca_file: '', client_ca_file: '', attested_tls: false },
      approval: 'none',
      attestation_policy: null,
      log_access: 'none',
      result_review: null,
    },
    configuration_digest: configurationDigest,
    assets: [{ id: assetId, creator: 'bob', use: 'open', checksum, key: null }],
    approval: 'none',
    result_consumers: ['alice'],
    approvals: [],
    events: { started: startedEvent, last: event },
    attestation: null,
    certificate: null,
    certificate_fingerprint: null,
    log: null,
    service_version: serviceVersion(),
    issued_at: later,
  },
  signature: 'DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q',
  key_id: keyId,
  log: null,
};

const attestationOfRun = {
  run_id: runId,
  verdict: 'verified',
  checks: [{ name: 'debug', passed: true, detail: 'the policy forbids debugging' }],
  tokens: [
    {
      kind: 'eat',
      hash: '5d3a9c1b7e2f4860a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718',
      size: 8_192,
      download: { url: 'https://storage.example.com/token?X-Amz-Signature=abc', expires_at: later },
    },
  ],
};

const command = {
  id: commandId,
  type: 'run',
  run_id: runId,
  computation_id: computationId,
  manifest,
  agent_config: { ...agentConfig, server_key: '' },
  issued_at: at,
  expires_at: later,
};

const certificate = `-----BEGIN CERTIFICATE-----
MIIBiTCCAS+gAwIBAgIUAm3EGivODw0vRLsUWh4bYFN4BmEwCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFY3ZtLTEwIBcNMjYxMTIyMDIzOTQ5WhgPMjEyNjEwMjkwMjM5
NDlaMBAxDjAMBgNVBAMMBWN2bS0xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
RkxMFmeKMa9jh+EjVDFuaAOr/8rBeFV18z8ahIecg/W1hUOCS00LT5LiM/8szZaU
KCycveaQxdzRJXg7OZwbeKNlMGMwHQYDVR0OBBYEFLy4L88VpP0Zb5egorkQYB5F
9xD5MB8GA1UdIwQYMBaAFLy4L88VpP0Zb5egorkQYB5F9xD5MA8GA1UdEwEB/wQF
MAMBAf8wEAYDVR0RBAkwB4IFY3ZtLTEwCgYIKoZIzj0EAwIDSAAwRQIhAOcnPeSh
UQbDbNa2ynx8zeedFjFxvq9qRKZN+hSOPh+pAiAatqzHjhlEVkh9ajV2K5kxabeA
4Q2RuAFEV/f3EurBjg==
-----END CERTIFICATE-----
`;

export const cvmBody = { description: 'Rack 4', certificate, agent_url: 'cvm-1.example.com:7002' };

export const cvm = {
  id: 'cvm-1',
  description: 'Rack 4',
  agent_url: 'cvm-1.example.com:7002',
  attestation: null,
  certificate,
  certificate_fingerprint: '2c176ed581aeb5df73c4502444fa761f5f750f1dffd9edaee4583db788052f7c',
  created_at: at,
  updated_at: at,
  presence: { state: 'connected', last_seen_at: later, agent_state: 'ReceivingManifest', fit: 'ready' },
};

const heldRun = {
  id: runId,
  computation_id: computationId,
  status: 'running',
  run_command_id: commandId,
  accepted_at: null,
  stop_command_id: null,
};

const reports = [
  { id: 'r-1', run_id: runId, type: 'accepted', command_id: commandId },
  {
    id: 'r-2',
    run_id: runId,
    type: 'event',
    event_type: 'Running',
    status: 'InProgress',
    originator: 'agent',
    occurred_at: later,
  },
  { run_id: runId, type: 'heartbeat', agent_state: 'Running', fit: 'busy' },
];

const reportResults = ['r-1', 'r-2', null].map((id) => ({ id, outcome: 'recorded', run_status: 'running' }));

/** Examples of the request and the response of each endpoint, for the OpenAPI document. Tests check that they fit the schemas. */
export const examples = {
  'computations/create-computation': { request: computationBody, response: newComputation },
  'computations/list-computations': {
    response: { computations: [computationRow], limit: 10, offset: 0, total: 1 },
  },
  'computations/get-computation': { response: computation },
  'computations/update-computation': { request: computationBody, response: computation },
  'computations/delete-computation': {},
  'runs/start-run': { response: runId },
  'runs/get-run': { response: run },
  'runs/list-runs': { response: { runs: [run], limit: 10, offset: 0, total: 1 } },
  'statistics/get-statistics': {
    response: { comp_stats: [{ day: '2025-07-17', status: 'completed', count: 3 }] },
  },
  'keys/upload-key': { request: { key: userKey }, response: { uploaded: true } },
  'keys/check-key': { response: { uploaded: true } },
  'runs/dry-run': {
    response: { missing_items: { keys: ['alice'], hashes: ['penguins.csv'], info: ['Missing algorithm'] } },
  },
  'runs/stop-run': { response: stoppingRun },
  'runs/get-manifest': { response: manifest },
  'assets/create-asset': { request: assetBody, response: asset },
  'assets/list-assets': { response: { assets: [assetRow], limit: 10, offset: 0, total: 1 } },
  'assets/get-asset': { response: assetWithContent },
  'assets/update-asset': { request: assetBody, response: asset },
  'assets/delete-asset': {},
  'assets/link-asset': {
    response: { asset_id: assetId, computation_id: computationId, linked: true },
  },
  'assets/list-linked-computations': {
    response: { computations: [computationRow], limit: 10, offset: 0, total: 1 },
  },
  'assets/unlink-asset': {
    response: { asset_id: assetId, computation_id: computationId, linked: false },
  },
  'events/list-events': { response: { events: [event], limit: 10, offset: 0, total: 1 } },
  'events/get-status': { response: event },
  'cvms/list-commands': { response: { commands: [command], run: heldRun } },
  'cvms/report': {
    request: { reports },
    response: { accepted: 3, duplicates: 0, results: reportResults },
  },
  'attestation/get-attestation': { response: attestationOfRun },
  'evidence/get-evidence': { response: evidence },
  'approvals/approve': { request: approvalBody, response: approval },
  'approvals/list-approvals': {
    response: { needed: [{ user: 'bob', because: ['penguins.csv'] }], approvals: [approval], refusals: [refusal] },
  },
  'approvals/withdraw-approval': {},
  'keys/remove-key': {},
  'todo/get-todo': { response: todo },
  'logs/read-logs': { response: { logs: [{ time: at, level: 'info', message: 'Agent is ready' }], next: 'WyJhIiwxXQ' } },
  'find/find': {
    response: {
      matches: [{ kind: 'asset', id: assetId, name: 'penguins.csv', owner: 'bob', matched: 'name' }],
      truncated: false,
    },
  },
  'cvms/list-cvms': { response: { cvms: [cvm], limit: 10, offset: 0, total: 1 } },
  'cvms/get-cvm': { response: cvm },
  'cvms/register-cvm': { request: cvmBody, response: cvm },
  'cvms/delete-cvm': {},
  'service/health': {
    response: { status: 'ok', stage: 'local', version: serviceVersion() },
  },
  'service/openapi': {
    response: { openapi: '3.1.0', info: { title: 'Computation management', version: serviceVersion() }, paths: {} },
  },
  'service/jwks': { response: { keys: [publicJwk] } },
} as const satisfies { [R in KnownRoute as R['name']]: Examples<R> };

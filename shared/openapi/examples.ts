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
const eventId = '00000000-0004-8d6c-8a43-5d0f5f0e7c11';
const commandId = '3f1d0c2b-7a1e-4b52-9a76-0d9f1e2c3b4a';
const userKey = 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=';
const checksum = '4e64fd1cbf1d6e7ab9a2d9b35b8e0a5c3f1f4b9e0f4c6d3a1b2c3d4e5f60718a';
const hash = [...Buffer.from(checksum, 'hex')];
export const manifestDigest = '8a1e5d7fbb0f0c2b6f7ad2b4ce4a7f0f3e0c9f6a0b51c8d21f7d3f4b6a5c9e10';
const configurationDigest = 'b2c9f0d4a7135e8816f3ca0d92b74e5f1d6c8a3b0e9f72415d8c6b3a90e1f7d2';
/** The members that a page of a list has beside its entries. */
const page = { limit: 10, offset: 0, total: 1 };
const content = 'c3BlY2llcyxpc2xhbmQK';
const keyId = 'y1mDWXSP0kLwpJdu0ZyYjhFZ0TFXv4LiWjXQy7uVvSY';

const name = 'Body mass by species';
const named = { name, description: 'Penguins of the Palmer Archipelago' };
/** The digests of what a run was started with. */
export const digests = { manifest_digest: manifestDigest, configuration_digest: configurationDigest };
const computationBody = { ...named, agent_config: { log_level: 'info' } };

const computationRow = { id: computationId, ...named, owner: 'alice', status: 'completed', created_at: at, updated_at: at };

const coveredConfig = { cert_file: '', server_ca_file: '', client_ca_file: '', attested_tls: false };
const agentConfig = { log_level: 'info', ...coveredConfig };

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
  ...digests,
};

const { result: _, ...ranWithoutReview } = run;

const stoppingRun = { ...run, status: 'stopping', ended_at: null, reason: null };

const settings = { approval: 'none', attestation_policy: null, log_access: 'none', result_review: null };

const owner = { user: 'alice', parts: ['owner', 'consumer'], invited: false };

const computation = {
  ...computationRow,
  agent_config: agentConfig,
  ...settings,
  consumers: [],
  providers: [],
  assets: [{ id: assetId, file_name: 'penguins.csv', asset_type: 'dataset' }],
  parties: [owner, { user: 'bob', parts: ['provider'], invited: false }],
  run,
};

const newComputation = { ...computation, status: 'created', assets: [], parties: [owner], run: null };

const described = { file_name: 'penguins.csv', description: '344 penguins', asset_type: 'dataset', mime_type: 'text/csv' };
const assetBody = { asset: { ...described, asset: content, user_key: userKey, content_access: 'creator', use: 'approval' } };

const notFetched = { source: null, kbs: null, decompress: null, algo_type: null, algo_args: null };
const assetRow = {
  id: assetId,
  ...described,
  state: 'ready',
  size: 15_241,
  checksum,
  content_access: 'creator',
  use: 'approval',
  ...notFetched,
  created_by: 'bob',
  created_at: at,
  updated_at: at,
};

const asset = { ...assetRow, user_key: userKey };

const assetWithContent = { ...asset, asset: content, content_reads: [] };

export const manifest = {
  id: computationId,
  ...named,
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

const { signature: __, ...approved } = approvalBody;

const approval = {
  user: 'bob',
  ...approved,
  max_runs: null,
  used_runs: null,
  approval_id: null,
  signed: true,
  stale: false,
  stale_because: null,
  approved_at: at,
};

const refusal = { user: 'carol', reason: 'The ethics board has not met yet.', refused_at: at };

const todo = {
  approvals: [{ computation_id: computationId, name, because: ['penguins.csv'], manifest_digest: manifestDigest }],
  keys: [{ computation_id: computationId, name }],
  content: [{ asset_id: assetId, file_name: 'penguins.csv' }],
  reviews: [],
  refusals: [],
  invitations: [{ computation_id: computationId, name, owner: 'alice', expected: ['provider'] }],
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

const logOrigin = 'computation-management/local/15f3168027d5b6e9';
const logVkey = `${logOrigin}+32e7bf59+Ad8AvHW6X+AfViLbZcqdvidyqpQaYzJfYvDduz/vH52P`;
const checkpoint =
  `${logOrigin}\n2\n129AyCRYGjY6usTrSX4jyimzXuyuZzCSS9nTwHzeics=\n\n\u2014 ${logOrigin} ` +
  'Mue/WTwdUDh04tUhgnBMC/kXKO+6fUuUItMWF3XdPOd0ZIKAcmMnc+lpopwwCmkOpeiQDgMBF00fQ6sj7HqpBKclzQI=\n';
function loggedAs(type: string, index: number, salt: string, beside: string) {
  return { type, index, salt, proof: `c2sp.org/tlog-proof@v1\nindex ${index}\n${beside}\n\n${checkpoint}` };
}
const fingerprint = 'b1f1a9d2c3e4f5061728394a5b6c7d8e9f00112233445566778899aabbccddee';
const assetKeyBody = { held: 'party', fingerprint };
const assetKey = { number: 1, fingerprint, held: 'party', release_policy: null, releases: 0, last_released_at: null };

const issued = { log: { origin: logOrigin, vkey: logVkey }, service_version: serviceVersion(), issued_at: later };
const evidence = {
  statement: {
    type: 'computation-evidence:v1',
    domain: 'd1',
    computation: computationId,
    run: ranWithoutReview,
    manifest,
    manifest_digest: manifestDigest,
    configuration: { agent_config: coveredConfig, ...settings },
    configuration_digest: configurationDigest,
    assets: [{ id: assetId, creator: 'bob', use: 'open', checksum, key: null }],
    approval: 'none',
    result_consumers: ['alice'],
    approvals: [],
    events: { started: startedEvent, last: event },
    attestation: null,
    certificate: null,
    certificate_fingerprint: null,
    ...issued,
  },
  signature: 'DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q',
  key_id: keyId,
  log: {
    entries: [
      loggedAs('run-start', 0, 'b2YgdGhlIGVudHJ5IDE=', 'A2dLnrcQwrlCoJFBcj5K5qZiy1M68fge8+MtDlhskmM='),
      loggedAs('run-end', 1, 'b2YgdGhlIGVudHJ5IDI=', 'kx84r3cspqB2rZjEdd1s1Bu4FFfXAYnxhEuPq4N3Bq8='),
    ],
  },
};

const decided = {
  reviewer: 'rita',
  decision: 'release',
  note: 'No group with fewer than ten people.',
  decided_at: later,
} as const;
const file = { checksum, size: 20_480 };
const resultOfRun = { state: 'released', asset: assetId, ...file, decisions: [decided] };

const resultEvidence = {
  ...evidence,
  log: { entries: evidence.log.entries.slice(1).map((entry) => ({ ...entry, type: 'result' })) },
  statement: {
    type: 'computation-result:v1',
    domain: 'd1',
    computation: computationId,
    run: runId,
    ...digests,
    result_review: { reviewers: ['rita'], needed: 1, consumers: ['alice', 'carol'] },
    ...resultOfRun,
    decisions: [{ ...decided, checksum, signature: null, key: null }],
    event: { ...event, event_type: 'result_released' },
    ...issued,
  },
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
  ...cvmBody,
  attestation: null,
  certificate_fingerprint: '2c176ed581aeb5df73c4502444fa761f5f750f1dffd9edaee4583db788052f7c',
  created_at: at,
  updated_at: at,
  presence: { state: 'connected', last_seen_at: later, agent_state: 'ReceivingManifest', fit: 'ready' },
};

const ofCommand = { run_command_id: commandId, accepted_at: null, stop_command_id: null };
const heldRun = { id: runId, computation_id: computationId, status: 'running', ...ofCommand };

const running = { event_type: 'Running', status: 'InProgress' };
const reports = [
  { id: 'r-1', run_id: runId, type: 'accepted', command_id: commandId },
  { id: 'r-2', run_id: runId, type: 'event', ...running, originator: 'agent', occurred_at: later },
  { run_id: runId, type: 'heartbeat', agent_state: 'Running', fit: 'busy' },
];

const reportResults = ['r-1', 'r-2', null].map((id) => ({ id, outcome: 'recorded', run_status: 'running' }));

const sealedKey = {
  protected: 'eyJhbGciOiJSU0EtT0FFUC0yNTYifQ',
  encrypted_key: 'AA',
  iv: 'A'.repeat(16),
  ciphertext: 'AA',
  tag: 'AA',
};
const askedKey = { id: '6b1f5c1e-8f8d-4a57-9a0d-0f3c1c9c7d21', asset: assetId, run: runId };
const authorization = {
  statement: { type: 'run-authorization:v1', domain: 'd1', run: runId },
  signature: 'b'.repeat(86),
  key_id: keyId,
};
export const missingItems = { keys: ['alice'], hashes: ['penguins.csv'], info: ['Missing algorithm'] };
const nonce = `${'A'.repeat(86)}==`;

/** Examples of the request and the response of each endpoint, for the OpenAPI document. Tests check that they fit the schemas. */
export const examples = {
  'computations/create-computation': { request: computationBody, response: newComputation },
  'computations/list-computations': { response: { computations: [computationRow], ...page } },
  'computations/get-computation': { response: computation },
  'computations/update-computation': { request: computationBody, response: computation },
  'computations/delete-computation': {},
  'runs/start-run': { response: runId },
  'runs/get-run': { response: run },
  'runs/list-runs': { response: { runs: [run], ...page } },
  'statistics/get-statistics': { response: { comp_stats: [{ day: '2025-07-17', status: 'completed', count: 3 }] } },
  'keys/upload-key': { request: { key: userKey }, response: { uploaded: true } },
  'keys/check-key': { response: { uploaded: true } },
  'runs/dry-run': { response: { missing_items: missingItems } },
  'runs/stop-run': { response: stoppingRun },
  'runs/get-manifest': { response: manifest },
  'assets/create-asset': { request: assetBody, response: asset },
  'assets/list-assets': { response: { assets: [assetRow], ...page } },
  'assets/get-asset': { response: assetWithContent },
  'assets/update-asset': { request: assetBody, response: asset },
  'assets/delete-asset': {},
  'assets/set-asset-key': { request: assetKeyBody, response: assetKey },
  'assets/get-asset-key': { response: assetKey },
  'assets/remove-asset-key': {},
  'assets/link-asset': { response: { asset_id: assetId, computation_id: computationId, linked: true } },
  'assets/list-linked-computations': { response: { computations: [computationRow], ...page } },
  'assets/unlink-asset': { response: { asset_id: assetId, computation_id: computationId, linked: false } },
  'events/list-events': { response: { events: [event], ...page } },
  'events/get-status': { response: event },
  'cvms/list-commands': { response: { commands: [command], run: heldRun } },
  'cvms/report': { request: { reports }, response: { accepted: 3, duplicates: 0, results: reportResults } },
  'attestation/get-attestation': { response: attestationOfRun },
  'evidence/get-evidence': { response: evidence },
  'results/hand-in-result': {
    request: { file_name: 'income.csv', ...file },
    response: { ...asset, asset_type: 'result', file_name: 'income.csv' },
  },
  'results/decide-result': {
    request: { decision: 'release', checksum, note: decided.note },
    response: { ...run, result: resultOfRun },
  },
  'results/get-result': { response: resultEvidence },
  'approvals/approve': { request: approvalBody, response: approval },
  'approvals/list-approvals': {
    response: { needed: [{ user: 'bob', because: ['penguins.csv'] }], approvals: [approval], refusals: [refusal] },
  },
  'approvals/withdraw-approval': {},
  'keys/remove-key': {},
  'todo/get-todo': { response: todo },
  'notifications/set-notifications': { request: { email: true }, response: { email: true, is_sent: true } },
  'notifications/get-notifications': { response: { email: false, is_sent: true } },
  'notifications/unsubscribe': {
    request: { 'List-Unsubscribe': 'One-Click' },
    response: 'You get no more mail about this domain.\n',
  },
  'notifications/show-unsubscribe': { response: '<!doctype html>\n<title>Unsubscribe</title>\n' },
  'logs/read-logs': { response: { logs: [{ time: at, level: 'info', message: 'Agent is ready' }], next: 'WyJhIiwxXQ' } },
  'find/find': {
    response: {
      matches: [{ kind: 'asset', id: assetId, name: 'penguins.csv', owner: 'bob', matched: 'name' }],
      truncated: false,
    },
  },
  'releases/list-releases': {
    response: { releases: [{ ...askedKey, authorization, evidence: '{"runtime-data":{},"tee-evidence":{}}' }] },
  },
  'releases/answer-release': { request: { refusal: 'The run limit of this key is reached.' }, response: askedKey },
  'releases/auth': { request: { version: '0.4.0' }, response: { nonce, 'extra-params': '' } },
  'releases/attest': {
    request: { 'runtime-data': { nonce }, 'tee-evidence': { primary_evidence: {} } },
    response: { token: 'eyJhbGciOiJFUzI1NiJ9.e30.c2ln' },
  },
  'releases/get-key': { response: sealedKey },
  'cvms/list-cvms': { response: { cvms: [cvm], ...page } },
  'cvms/get-cvm': { response: cvm },
  'cvms/register-cvm': { request: cvmBody, response: cvm },
  'cvms/delete-cvm': {},
  'service/health': { response: { status: 'ok', stage: 'local', version: serviceVersion() } },
  'service/openapi': {
    response: { openapi: '3.1.0', info: { title: 'Computation management', version: serviceVersion() }, paths: {} },
  },
  'service/jwks': { response: { keys: [publicJwk] } },
  'history/get-checkpoint': { response: checkpoint },
  'history/get-tile': { response: '\u0000@two entries of 64 bytes' },
} as const satisfies { [R in KnownRoute as R['name']]: Examples<R> };

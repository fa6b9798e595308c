import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import { strictPolicy } from './strict-policy.ts';
import { canonicalDigest } from 'computation-management-formats/digests';
import { afterAll, beforeAll, expect, it, type TestFunction, vi } from 'vitest';
import { openClient, type BodyOf, type Client } from './client.ts';
import { untilTestEnds } from './patience.ts';
import { actAs, isDeployed, isKnown, openTarget, type Person, type Target } from './target.ts';
import { digestsIn } from './approval-digests.ts';

type Computation = BodyOf<'computations/create-computation'>;
type Asset = BodyOf<'assets/create-asset'>;
type Cvm = BodyOf<'cvms/register-cvm'>;

/** Steps that many tests share: calls of the service by route, resources to work on, and the part of the CVM. */
export interface Session extends Client {
  target: Target;
  createComputation: (fields?: Record<string, unknown>, as?: Person) => Promise<Computation>;
  /** Returns the identifier of a computation that no test changes. */
  someComputation: () => Promise<string>;
  createAsset: (fields?: Record<string, unknown>, as?: Person) => Promise<Asset>;
  /** Gives an asset a key that its creator holds, with a strict release policy. */
  setAssetKey: (assetId: string, fields?: Record<string, unknown>, as?: Person) => Promise<BodyOf<'assets/set-asset-key'>>;
  link: (assetId: string, computationId: string) => Promise<void>;
  /** Creates a computation of the administrator that is ready to run. Returns its identifier. */
  readyComputation: (fields?: Record<string, unknown>) => Promise<string>;
  /** Returns the digest of a computation's manifest as it is now. */
  digestOf: (computationId: string) => Promise<string>;
  /** Returns both digests that an approval names. */
  digestsOf: (computationId: string) => Promise<{ digest: string; configuration_digest: string }>;
  /** Approves the manifest of a computation as it is now. */
  approve: (computationId: string, as?: Person) => Promise<BodyOf<'approvals/approve'>>;
  /** Runs a ready computation. Returns the run's identifier. */
  startRun: (computationId: string, cvm: string) => Promise<string>;
  /** Registers a CVM. It is removed after the tests of the file. */
  registerCvm: (cvm: string, fields?: Record<string, unknown>) => Promise<Cvm>;
  /** Waits for a CVM's command of this type and returns it. */
  commandFor: (cvm: string, type: 'run' | 'stop') => Promise<Command>;
  report: (cvm: string, ...reports: Record<string, unknown>[]) => Promise<BodyOf<'cvms/report'>>;
  /** Accepts the run that is offered to a CVM and reports an event that ends it. */
  endRun: (cvm: string, event?: { event_type: string; status: string }) => Promise<void>;
  untilStatus: (computationId: string, status: string) => Promise<void>;
  /**
   * Runs a computation of another user to its end, whose result the administrator reviews for `carol`. Returns what a request on the
   * result has in its path and query.
   */
  reviewedRun: (fields?: Record<string, unknown>) => Promise<{ path: { id: string }; query: { run: string } }>;
  /** Hands in the result of such a run and uploads its file. Returns the checksum of the file. */
  handIn: (reviewed: { path: { id: string }; query: { run: string } }, content?: string) => Promise<string>;
}

type Command = BodyOf<'cvms/list-commands'>['commands'][number];

/** Creates a public key as users send it: PEM in base64. */
export function publicKey(): string {
  const pem = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' });
  return Buffer.from(pem).toString('base64');
}

/** Returns the identifier of a CVM that no other test uses. */
export function newCvm(): string {
  return `e2e-${randomUUID()}`;
}

export const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A test that acts as other persons than the administrator and the CVM. Skipped on a stage without tokens for them. */
export function itAs(persons: Person[], title: string, test: TestFunction): void {
  it.skipIf(!persons.every(isKnown))(`${title} (acts as ${persons.join(', ')})`, (context) =>
    actAs<unknown>(persons, () => test(context)),
  );
}

/** Prepares the tests of `itAs` for the same persons. `work` returns what undoes it after the tests. */
export function beforeAllAs(persons: Person[], work: () => Promise<() => Promise<void>>): void {
  beforeAll(async () => {
    if (!persons.every(isKnown)) return undefined;
    const undo = await actAs(persons, work);
    return () => actAs(persons, undo);
  });
}

/** Opens the only session of a test file, and deletes what it created after the file's tests. */
export function useSession(): Session {
  const session = {} as Session;
  let leave: () => Promise<void>;
  beforeAll(async () => {
    const opened = await openSession();
    Object.assign(session, opened.session);
    leave = opened.leave;
  });
  afterAll(() => leave());
  return session;
}

async function openSession(): Promise<{ session: Session; leave: () => Promise<void> }> {
  const target = await openTarget();
  const made = { computations: new Set<string>(), assets: new Set<string>(), cvms: new Set<string>() };
  const client = await openClient(target, (name, { status, body }) => {
    if (status !== 201) return;
    const { id } = body as { id: string };
    if (name === 'computations/create-computation') made.computations.add(id);
    if (name === 'assets/create-asset') made.assets.add(id);
    if (name === 'cvms/register-cvm') made.cvms.add(id);
  });
  const session = withSharedSteps(target, client);
  const leave = async () => {
    for (const id of made.computations) await deleteComputation(session, id);
    for (const id of made.assets) await session.call('assets/delete-asset', { path: { id }, headers: newKey() });
    for (const cvmID of made.cvms) await session.call('cvms/delete-cvm', { path: { cvmID }, headers: newKey() });
    // What a deletion leaves is gone within 1.5 seconds, or later on a busy machine.
    if (!isDeployed) await vi.waitFor(() => expectEmpty(session), untilTestEnds);
  };
  return { session, leave };
}

function withSharedSteps(target: Target, client: Client): Session {
  const { done } = client;
  const key = publicKey();
  const report = (cvmID: string, ...reports: Record<string, unknown>[]) =>
    done('cvms/report', {
      path: { cvmID },
      body: { reports: reports.map((entry) => ({ id: randomUUID(), ...entry })) },
      as: 'cvm',
    });
  const commandFor = async (cvmID: string, type: 'run' | 'stop') => {
    const find = async () => {
      const { commands } = await done('cvms/list-commands', { path: { cvmID }, as: 'cvm' });
      return commands.find((command) => command.type === type);
    };
    return await vi.waitFor(async () => present(await find()), untilTestEnds);
  };
  const createComputation = (fields: Record<string, unknown> = {}, as: Person = 'administrator') =>
    done('computations/create-computation', { body: { name: 'End to end', ...fields }, as });
  const createAsset = (fields: Record<string, unknown> = {}, as: Person = 'administrator') =>
    done('assets/create-asset', {
      body: { asset: { file_name: `${randomUUID()}.csv`, asset_type: 'dataset', asset: base64('a,b\n'), ...fields } },
      as,
    });
  let algorithm: Promise<Asset> | undefined;
  let unchanged: Promise<Computation> | undefined;
  const link = async (id: string, computationID: string) => {
    await done('assets/link-asset', { path: { id, computationID } });
  };
  const makeReady = async (id: string) => {
    algorithm ??= createAsset({ file_name: 'algorithm.py', asset_type: 'algorithm' });
    await link((await algorithm).id, id);
    await done('keys/upload-key', { path: { id }, body: { key } });
  };
  const digestOf = async (id: string) => canonicalDigest(await done('runs/get-manifest', { path: { id } }));
  const digestsOf = async (id: string) => digestsIn((await client.call('runs/get-manifest', { path: { id } })).headers);
  return {
    ...client,
    target,
    createComputation,
    someComputation: async () => (await (unchanged ??= createComputation())).id,
    createAsset,
    setAssetKey: async (id, fields = {}, as = 'administrator') => {
      const body = { held: 'party', fingerprint: 'ab'.repeat(32), release_policy: strictPolicy, ...fields };
      return await done('assets/set-asset-key', { path: { id }, body, as });
    },
    link,
    commandFor,
    report,
    readyComputation: async (fields = {}) => {
      const { id } = await createComputation(fields);
      await makeReady(id);
      return id;
    },
    digestOf,
    digestsOf,
    approve: async (id, as = 'administrator') => done('approvals/approve', { path: { id }, body: await digestsOf(id), as }),
    startRun: (id, cvm) => done('runs/start-run', { path: { id }, query: { cvm } }),
    registerCvm: (cvmID, fields = {}) =>
      done('cvms/register-cvm', { path: { cvmID }, body: { description: 'End to end', ...fields } }),
    endRun: async (cvm, event = { event_type: 'Complete', status: 'Completed' }) => {
      const { id: command_id, run_id, computation_id } = await commandFor(cvm, 'run');
      await report(cvm, { run_id, type: 'accepted', command_id }, { run_id, type: 'event', ...event });
      await untilOver(client, computation_id);
    },
    reviewedRun: async (fields = {}) => {
      const result_review = { reviewers: [target.idOf('administrator')], needed: 1 };
      const { id } = await createComputation({ owner: 'owner-of-results', consumers: ['carol'], result_review, ...fields });
      await makeReady(id);
      const cvm = newCvm();
      const run = await done('runs/start-run', { path: { id }, query: { cvm } });
      const { id: command_id } = await commandFor(cvm, 'run');
      const event = { run_id: run, type: 'event', event_type: 'Complete', status: 'Completed' };
      await report(cvm, { run_id: run, type: 'accepted', command_id }, event);
      await untilOver(client, id);
      return { path: { id }, query: { run } };
    },
    handIn: async (reviewed, content = 'species,count\nAdelie,152\n') => {
      const checksum = createHash('sha3-256').update(content).digest('hex');
      const body = { file_name: 'counts.csv', size: Buffer.byteLength(content), checksum };
      const { upload } = await done('results/hand-in-result', { ...reviewed, body });
      if (!upload) throw new Error('There is no upload.');
      const { status } = await fetch(upload.url, { method: upload.method, headers: upload.headers, body: content });
      expect(status).toBe(200);
      await vi.waitFor(async () => {
        const { result } = await done('runs/get-run', reviewed);
        expect(result?.state).toBe('under_review');
      }, untilTestEnds);
      return checksum;
    },
    untilStatus: async (id, status) => {
      await vi.waitFor(async () => expect(await statusOf(client, id)).toBe(status), untilTestEnds);
    },
  };
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('Not found yet.');
  return value;
}

async function statusOf(client: Client, id: string): Promise<string> {
  return (await client.done('computations/get-computation', { path: { id }, query: { peek: true } })).status;
}

async function untilOver(client: Client, id: string): Promise<void> {
  await vi.waitFor(async () => expect(await statusOf(client, id)).not.toMatch(/running|stopping/), untilTestEnds);
}

const newKey = () => ({ 'idempotency-key': randomUUID() });

/** Deletes a computation. Stops its run first if one is active. */
async function deleteComputation(session: Session, id: string): Promise<void> {
  const { status } = await session.call('computations/delete-computation', { path: { id }, headers: newKey() });
  if (status !== 409) return;
  const { id: run_id, cvm_id } = await session.done('runs/stop-run', { path: { id } });
  await session.report(cvm_id, { run_id, type: 'event', event_type: 'Stopped', status: 'Stopped' });
  await untilOver(session, id);
  await session.done('computations/delete-computation', { path: { id } });
}

async function expectEmpty({ done }: Client): Promise<void> {
  const [computations, assets, runs, cvms] = await Promise.all([
    done('computations/list-computations', {}),
    done('assets/list-assets', {}),
    done('runs/list-runs', {}),
    done('cvms/list-cvms', {}),
  ]);
  expect({ computations: computations.total, assets: assets.total, runs: runs.total, cvms: cvms.total }).toEqual({
    computations: 0,
    assets: 0,
    runs: 0,
    cvms: 0,
  });
}

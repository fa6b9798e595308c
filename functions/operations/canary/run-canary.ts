import { ok as ensure } from 'node:assert';
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  type Client,
  createClient,
  pause,
  readClaims,
  type Schemas,
  ServiceProblem,
  type Token,
  waitForRun,
} from 'computation-management-client';
import { connectCvm, simulateCvm } from 'computation-management-simulated-cvm';
import { canaryNames, clearDomain, deleteAsset, deleteComputation } from './clear-domain.ts';

export interface CanaryOptions {
  baseUrl: string;
  /** The domain in which the canary works, and which nobody else uses. */
  domain: string;
  /** Returns access tokens of the canary's user, who has the roles `administrator` and `cvm` in the domain. */
  token: Exclude<Token, string>;
  /** Aborts the steps of the canary, but not the deletion of what the steps have created. */
  signal: AbortSignal;
  /** The identifier of the CVM that the canary plays. Default: a new identifier, so that no earlier run holds the CVM. */
  cvmId?: string;
}

/**
 * The age in milliseconds from which computations and assets of the canary count as left by an earlier call that was cut off. No
 * call takes this long.
 */
const leftoverAgeInMilliseconds = 10 * 60_000;

const deletionInMilliseconds = 60_000;
const pollInMilliseconds = 500;

const pace = { eventsInMilliseconds: 200, heartbeatInMilliseconds: 10_000, pollInMilliseconds: 1_000 };

/** The retries and the time limit of each request of the canary. A failure that a few retries cure is no trouble. */
const retry = { attempts: 4, timeoutInMilliseconds: 20_000 };

/**
 * Does through the API, over HTTPS, what users do: creates a computation with an algorithm, a dataset and a key, runs it on a CVM
 * that it plays itself, checks the outcome and its evidence, and deletes everything.
 * @returns the milliseconds that each step took
 * @throws CanaryError
 */
export async function runCanary(options: CanaryOptions): Promise<Record<string, number>> {
  const { baseUrl, domain, token, signal, cvmId = `canary-${randomBytes(6).toString('hex')}` } = options;
  const steps = new Steps();
  const client = createClient({ baseUrl, domain, token, retry });
  const made: Made = { computations: [], assets: [] };
  try {
    const owner = await steps.take('sign in', async () => userOf(await token({ signal })));
    await steps.take('delete what earlier calls left', () => {
      const before = new Date(Date.now() - leftoverAgeInMilliseconds).toISOString();
      return clearDomain(client, { owner, before }, signal);
    });
    const id = await prepare(client, steps, made, signal);
    const runId = await steps.take('start a run', () => client.startRun({ id, cvm: cvmId, signal }));
    const run = await steps.take('see the run end', () => playCvm({ ...options, cvmId, client, id, runId }));
    await steps.take('find the outcome', () => checkOutcome(client, id, run, signal));
  } catch (error) {
    await deleteAll(client, made).catch(() => undefined); // the first failure tells more
    throw error;
  }
  await steps.take('delete what it made', () => deleteAll(client, made));
  return steps.milliseconds;
}

/** Returns the user that an access token names in `sub`. @throws Error if the token names nobody */
function userOf(token: string): string {
  const user = readClaims(token)?.['sub'];
  ensure(typeof user === 'string', 'the token has no sub');
  return user;
}

/** The identifiers of the computations and assets that the canary has created. */
interface Made {
  computations: string[];
  assets: string[];
}

/**
 * Creates a computation of the canary with everything that a run needs: a key, an algorithm and a dataset.
 * @returns the identifier of the computation
 */
async function prepare(client: Client, steps: Steps, made: Made, signal: AbortSignal): Promise<string> {
  const { id } = await steps.take('create a computation', () =>
    client.createComputation({ body: { name: canaryNames.computation }, signal }),
  );
  made.computations.push(id);
  await steps.take('upload a key', () => client.uploadKey({ id, body: { key: newPublicKey() }, signal }));
  const algorithm = await steps.take('store an algorithm', async () => {
    const asset = { file_name: canaryNames.algorithm, asset_type: 'algorithm', asset: btoa('print("canary")') } as const;
    return (await client.createAsset({ body: { asset }, signal })).id;
  });
  made.assets.push(algorithm);
  const dataset = await steps.take('announce a dataset', () => {
    const asset = { file_name: canaryNames.dataset, asset_type: 'dataset' } as const;
    return client.createAsset({ body: { asset }, signal });
  });
  made.assets.push(dataset.id);
  await steps.take('upload the dataset', () => upload(client, dataset, signal));
  await steps.take('link both', async () => {
    for (const asset of made.assets) await client.linkAsset({ id: asset, computationID: id, signal });
  });
  await steps.take('see that nothing is missing', async () => {
    const { missing_items: missing } = await client.dryRun({ id, signal });
    ensure(Object.values(missing).flat().length === 0, `the service misses ${JSON.stringify(missing)}`);
  });
  return id;
}

function newPublicKey(): string {
  const pem = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' });
  return Buffer.from(pem).toString('base64');
}

/** Uploads random content for an asset of the canary by its presigned link, and waits until the asset is ready. */
async function upload(client: Client, { id, upload: link }: Schemas['Asset'], signal: AbortSignal): Promise<void> {
  ensure(link !== undefined, 'the service offered no upload');
  const body = randomBytes(1_024);
  const { ok, status } = await fetch(link.url, { method: link.method, headers: link.headers, body, signal });
  ensure(ok, `storage answered ${status}`);
  for (;;) {
    const { state, checksum } = await client.getAsset({ id, signal });
    if (state === 'ready') {
      ensure(checksum === createHash('sha3-256').update(body).digest('hex'), 'the service has another checksum');
      return;
    }
    await pause(pollInMilliseconds, signal);
  }
}

interface PlayedRun extends CanaryOptions {
  client: Client;
  cvmId: string;
  id: string;
  runId: string;
}

/** Plays a CVM that takes a run of the canary to its end. @returns the run as it ended */
async function playCvm({ baseUrl, domain, token, signal, client, cvmId, id, runId }: PlayedRun): Promise<Schemas['Run']> {
  const ending = new AbortController();
  const closing = AbortSignal.any([signal, ending.signal]);
  const connection = connectCvm({ baseUrl, domain, cvmId, token: () => token({ signal: closing }), closing });
  try {
    const [, run] = await Promise.all([
      simulateCvm({ cvmId, runId, connection, pace, closing }),
      waitForRun(client, { id, run: runId, signal: closing }),
    ]);
    return run;
  } catch (error) {
    signal.throwIfAborted(); // its reason tells more
    throw error;
  } finally {
    ending.abort();
  }
}

/**
 * Checks that a run of the canary was completed, and that its journal and evidence are right.
 * @throws Error with what is wrong
 */
async function checkOutcome(client: Client, id: string, run: Schemas['Run'], signal: AbortSignal): Promise<void> {
  ensure(run.status === 'completed', `the run is ${run.status}: ${run.reason ?? 'no reason'}`);
  const { events } = await client.listEvents({ id, limit: 100, signal });
  const types = new Set(events.map(({ event_type }) => event_type));
  for (const type of ['created', 'asset_linked', 'key_uploaded', 'started', 'Running', 'completed']) {
    ensure(types.has(type), `the journal has no event ${type}`);
  }
  const { statement } = await client.getEvidence({ id, run: run.id, signal });
  ensure(statement.run.id === run.id, 'the evidence is of another run');
}

/**
 * Deletes the computations and assets that the canary has created, and checks that they are gone.
 * @throws Error if something is left
 */
async function deleteAll(client: Client, { computations, assets }: Made): Promise<void> {
  const signal = AbortSignal.timeout(deletionInMilliseconds);
  for (const id of computations) await deleteComputation(client, id, signal);
  for (const id of assets) await deleteAsset(client, id, signal);
  const reads = [
    ...computations.map((id) => () => client.getComputation({ id, peek: 'true', signal })),
    ...assets.map((id) => () => client.getAsset({ id, signal })),
  ];
  for (const read of reads) ensure(await isGone(read), 'something that was deleted is still there');
}

async function isGone(read: () => Promise<unknown>): Promise<boolean> {
  try {
    await read();
    return false;
  } catch (error) {
    if (error instanceof ServiceProblem && error.status === 404) return true;
    throw error;
  }
}

/** An error of the canary. Its message names the step and the reason. */
class CanaryError extends Error {
  override readonly name = 'CanaryError';
}

/** Takes the steps of the canary one by one, and keeps the milliseconds of each step. */
class Steps {
  readonly milliseconds: Record<string, number> = {};

  /**
   * Takes a step of the canary and measures its time.
   * @param what a verb and its object, such as `start a run`
   * @throws CanaryError
   */
  async take<T>(what: string, act: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await act();
    } catch (error) {
      throw new CanaryError(`Could not ${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    } finally {
      this.milliseconds[what] = Math.round(performance.now() - start);
    }
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import { type Client, createClient, type Data, localToken, ServiceProblem } from 'computation-management-client';
import { publicKey } from '../support/ready-computation.ts';

/** Something that was acknowledged, so that it must be there after the next start. */
export interface Acknowledged {
  /** A name of what was acknowledged, for the message if it is lost. */
  what: string;
  read: (client: Client) => Promise<unknown>;
  value: unknown;
}

export interface Outcome {
  acknowledged: Acknowledged[];
  /** Statuses of requests that were refused. */
  refused: number[];
}

/** Makes a call. Returns nothing if it was refused. */
type Attempt = <Answer>(call: (client: Client) => Promise<Answer>) => Promise<Answer | undefined>;

const runEveryRounds = 4;
const mostTries = 50;
const pauseInMilliseconds = 100;

/** A client that repeats nothing: each refusal counts. */
export function clientOf(baseUrl: string): Client {
  const token = localToken({ baseUrl, sub: 'alice', groups: ['d1:administrator', 'd1:cvm'] });
  return createClient({ baseUrl, domain: 'd1', token, retry: { attempts: 1 } });
}

/**
 * Creates and links up to 12 computations and assets. Runs every fourth computation until it is completed, after it has
 * uploaded a dataset for it with a presigned request. Stops after 3 refused requests.
 */
export async function work(client: Client): Promise<Outcome> {
  const outcome: Outcome = { acknowledged: [], refused: [] };
  const attempt: Attempt = async (call) => {
    try {
      return await call(client);
    } catch (error) {
      if (!(error instanceof ServiceProblem)) throw error;
      outcome.refused.push(error.status);
      return undefined;
    }
  };
  for (let round = 0; round < 12 && outcome.refused.length < 3; round++) {
    for await (const each of workOneRound(attempt, round)) outcome.acknowledged.push(each);
  }
  return outcome;
}

/** Returns what is acknowledged, one by one. Ends if the computation, the asset or the link is refused. */
async function* workOneRound(attempt: Attempt, round: number): AsyncGenerator<Acknowledged> {
  const name = `N${round}`;
  const computation = await attempt((client) => client.createComputation({ body: { name } }));
  if (!computation) return;
  const { id } = computation;
  yield { what: `computation ${id}`, read: async (client) => (await peek(client, id)).name, value: name };

  const content = Buffer.alloc(3_000 * (round + 1), 'x').toString('base64');
  const file = { file_name: `${round}.py`, asset_type: 'algorithm', asset: content } as const;
  const asset = await attempt((client) => client.createAsset({ body: { asset: file } }));
  if (!asset) return;
  yield contentOf(asset.id, content);

  const linked = await attempt((client) => client.call('linkAsset', { id: asset.id, computationID: id }));
  if (!linked) return;
  const read = async (client: Client) => (await client.listLinkedComputations({ id: asset.id })).total;
  yield { what: `link of asset ${asset.id}`, read, value: 1 };

  if (round % runEveryRounds !== 0) return;
  yield* upload(attempt, `${round}.csv`);
  yield* run(attempt, id, `cvm-${round}`);
}

/** Uploads a dataset with a presigned request. Acknowledges it once the asset has the content. */
async function* upload(attempt: Attempt, file_name: string): AsyncGenerator<Acknowledged> {
  const asset = await attempt((client) => client.createAsset({ body: { asset: { file_name, asset_type: 'dataset' } } }));
  if (!asset?.upload) return;
  const { method, url, headers } = asset.upload;
  const body = '5.1,3.5\n'.repeat(1_000);
  const uploaded = await fetch(url, { method, headers, body }).catch(() => undefined);
  if (uploaded?.status !== 200) return; // the local S3 answers 500 when its disk is full
  yield* once(attempt, contentOf(asset.id, btoa(body)));
}

/** Runs a computation as its CVM would. Acknowledges the run once the computation is completed. */
async function* run(attempt: Attempt, id: string, cvmID: string): AsyncGenerator<Acknowledged> {
  if (!(await attempt((client) => client.uploadKey({ id, body: { key: publicKey() } })))) return;
  const run_id = await attempt((client) => client.startRun({ id, cvm: cvmID }));
  if (run_id === undefined) return;
  const command_id = await commandFor(attempt, cvmID);
  if (command_id === undefined) return;
  const body = {
    reports: [
      { id: '1', run_id, type: 'accepted', command_id },
      { id: '2', run_id, type: 'event', event_type: 'Complete', status: 'Completed' },
    ],
  } satisfies Parameters<Client['report']>[0]['body'];
  if (!(await attempt((client) => client.report({ cvmID, body })))) return;
  const read = async (client: Client) => (await peek(client, id)).status;
  yield* once(attempt, { what: `run ${run_id}`, read, value: 'completed' });
}

async function commandFor(attempt: Attempt, cvmID: string): Promise<string | undefined> {
  for (let tries = 0; tries < mostTries; tries++) {
    const listed = await attempt((client) => client.listCommands({ cvmID }));
    if (!listed) return undefined;
    const [command] = listed.commands;
    if (command) return command.id;
    await delay(pauseInMilliseconds);
  }
  return undefined;
}

/** Waits until the value is read. Returns nothing if it is not in time, as on a full disk. */
async function* once(attempt: Attempt, expected: Acknowledged): AsyncGenerator<Acknowledged> {
  for (let tries = 0; tries < mostTries; tries++) {
    const found = await attempt(async (client) => ({ value: await expected.read(client) }));
    if (!found) return;
    if (found.value === expected.value) {
      yield expected;
      return;
    }
    await delay(pauseInMilliseconds);
  }
}

function peek(client: Client, id: string): Promise<Data<'getComputation'>> {
  return client.getComputation({ id, peek: 'true' });
}

function contentOf(id: string, content: string): Acknowledged {
  return { what: `content of asset ${id}`, read: async (client) => (await client.getAsset({ id })).asset, value: content };
}

/** Reads everything that was acknowledged. @returns what is not there, or has another value */
export async function lostOf(client: Client, acknowledged: readonly Acknowledged[]): Promise<string[]> {
  const lost: string[] = [];
  for (const { what, read, value } of acknowledged) {
    const found = await read(client).catch((error: unknown) => {
      if (error instanceof ServiceProblem) return undefined;
      throw error;
    });
    if (found !== value) lost.push(what);
  }
  return lost;
}

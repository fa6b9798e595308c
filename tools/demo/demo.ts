import { ok as ensure } from 'node:assert';
import { type Client, createClient, type Schemas } from 'computation-management-client';
import type { Role } from 'computation-management-formats/vocabulary';
import { type Stack, startStack } from '../../local/stack.ts';
import { isMain, parseOptions, runCommand } from '../../shared/command-line/arguments.ts';
import { type Cast, type InputFile, type Inputs, prepare, readInputFile } from './prepare.ts';
import { releaseResult } from './release.ts';
import { runAndStop, runToEnd, printChapter, step } from './runs.ts';

const usage = `Usage: npm run demo

Takes a computation on public data from its creation to a reviewed and released result, on a new service. Also stops a second run.
The exit code is 0 only if every step succeeded.

  --help  print this`;

const domain = 'demo';

/** The role of each participant of the demo, which is the only one that the participant needs. */
const roles = {
  owner: 'creator',
  developer: 'algo_provider',
  provider: 'dataset_provider',
  reviewer: 'viewer',
  consumer: 'result_consumer',
} satisfies Record<keyof Cast, Role>;

export async function demoCommand(args: string[]): Promise<void> {
  parseOptions(args, {});
  const interrupted = interruption();
  const service = await startStack({ port: 0, simulator: true });
  try {
    await Promise.race([play(service), interrupted]);
  } finally {
    await service.stop();
  }
  process.exit(0);
}

if (isMain(import.meta)) await runCommand(usage, demoCommand);

async function play({ baseUrl, token }: Stack): Promise<void> {
  const startedAt = performance.now();
  printChapter(`A computation from its creation to its result, on ${baseUrl}, domain ${domain}`);
  const inputs = { algorithm: readInputFile('penguin-sizes.py'), dataset: readInputFile('penguins.csv') };
  const clients = Object.entries(roles).map(async ([user, role]) => {
    return [user, createClient({ baseUrl, domain, token: await token(user, [`${domain}:${role}`]) })] as const;
  });
  const cast = Object.fromEntries(await Promise.all(clients)) as Cast;

  printChapter('Prepare');
  const { id, reviewerKey } = await prepare(cast, inputs);
  printChapter('Run, on a simulated CVM: it reports as an agent does, but runs nothing');
  const run = await runToEnd(cast.owner, id, 'sim-1');
  printChapter('Check');
  await checkManifest(cast.consumer, { id, run }, inputs);
  printChapter('Stop another run');
  await runAndStop(cast.owner, id, 'sim-slow-1');
  printChapter('Release the result of the first run');
  await releaseResult(cast, { baseUrl, domain, id, run, reviewerKey });
  printChapter(`Everything happened, in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s.\n`);
}

/**
 * Returns a promise that the first SIGINT, SIGTERM or SIGHUP rejects. A second signal of the same kind ends the process at once.
 */
function interruption(): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => reject(new Error('Interrupted.')));
  promise.catch(() => undefined); // the signal may come before the promise is awaited
  return promise;
}

/** Checks that the manifest of a run contains the hashes of the algorithm and the dataset. */
async function checkManifest(
  consumer: Client,
  { id, run }: { id: string; run: string },
  { algorithm, dataset }: Inputs,
): Promise<void> {
  let manifest: Schemas['Manifest'] | undefined;
  await step('consumer', 'downloads the manifest of the run', async () => {
    manifest = await consumer.getManifest({ id, run });
    return `algorithm, datasets: ${manifest.datasets.length}, result consumers: ${manifest.result_consumers.length}`;
  });
  const compare = ({ name, sha3 }: InputFile, hash: number[] | undefined) =>
    step('consumer', `hashes ${name}`, async () => {
      ensure(sha3.equals(Buffer.from(hash ?? [])), `the manifest has another hash for ${name}`);
      return `SHA3-256 ${sha3.toString('hex').slice(0, 16)}…, as in the manifest`;
    });
  await compare(algorithm, manifest?.algorithm.hash);
  await compare(dataset, manifest?.datasets.find(({ filename }) => filename === dataset.name)?.hash);
}

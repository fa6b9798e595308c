import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { causeOf, pause, waitForRun } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { plainName } from 'computation-management-formats/quoted-name';
import { shellWord } from 'computation-management-words';
import { confirm, type Context, printBefore, type Session } from '../context/context.ts';
import { readPrivateKey } from '../files/key-files.ts';
import { type CmsError, codeOf, errorOf, UsageError } from '../terminal/cms-error.ts';
import { noting, startProgress } from '../terminal/progress.ts';
import { sendAlgorithm, sendDataset, type SentFile } from './agent-calls.ts';
import { AgentError, unavailable } from './agent-connection.ts';
import { type AgentOptions, type KnownRun, openRightAgent, readKnownRun } from './right-agent.ts';
import { refuseUnreadable } from '../files/read-file.ts';

export interface SendOptions extends AgentOptions {
  key: string;
  type?: string;
  arg?: string[];
  requirements?: string;
  decompress?: boolean;
  yes?: boolean;
}

interface Planned {
  file: string;
  size: number;
  /** The name of the dataset in the manifest that the file to send is. Undefined: the file is the algorithm. */
  dataset: string | undefined;
}

/** Sends files to the agent of a run, each when the agent waits for it: the algorithm first. @throws CmsError if a file is not sent */
export async function sendFiles(
  context: Session,
  id: string,
  { files, ...options }: SendOptions & { files: string[] },
): Promise<{ run: string; sent: Planned[] }> {
  const key = await readPrivateKey(options.key, context.terminal);
  const known = await readKnownRun(context, id, options);
  const { run } = known;
  expectActive(run, context);
  const { requirements } = options;
  if (requirements !== undefined) await access(requirements, constants.R_OK).catch(refuseUnreadable(requirements));
  const planned = [];
  for (const file of files) planned.push(await placeOf(file, known, key));
  planned.sort((one, other) => Number(one.dataset !== undefined) - Number(other.dataset !== undefined));
  refuseUnused(planned, options);
  if (!known.isApproved && options.yes !== true) {
    context.note('This machine has no record of your approval: manifest, policy and CVM are what the service says.\n');
    const name = plainName(known.manifest.name);
    await confirm(context, `Send to the run ${printable(run.id)} of ${name} on ${plainName(run.cvm_id)}?`);
  }
  await printBefore(context);
  (await openRightAgentSoon(context, known, options)).close();
  for (const each of planned) {
    const event = `Receiving${each.dataset === undefined ? 'Algorithm' : 'Data'}/InProgress`;
    await untilEvent(context, known, [event], `the agent takes ${printable(each.file)}`);
    await sendOne(context, known, { ...options, ...each, sender: key });
    context.note(`Sent ${printable(each.file)}${each.dataset === undefined ? ', the algorithm' : ''}.\n`);
  }
  return { run: run.id, sent: planned };
}

/** Checks that a run has not ended. @throws CmsError if the run has ended, so that its agent takes no file */
function expectActive({ id, status, reason, ended_at }: KnownRun['run'], context: Context): void {
  if (ended_at === null) return;
  const message = `The run ${id} has ${printable(status)}, so its agent takes no file: ${printable(reason ?? '')}`;
  throw errorOf('conflict', message, context.command('todo'));
}

/** Checks that each option of `cms send` is for a file that is sent. @throws CmsError for an option that no file uses */
function refuseUnused(planned: Planned[], { type, arg, requirements, decompress }: SendOptions): void {
  const isThere = (isDataset: boolean) => planned.some(({ dataset }) => (dataset !== undefined) === isDataset);
  const ofAlgorithm = [type, arg, requirements].some((option) => option !== undefined);
  if (ofAlgorithm && !isThere(false)) {
    throw new UsageError('--type, --arg and --requirements are for the algorithm: leave them out, or give its file too.');
  }
  if (decompress === true && !isThere(true)) {
    throw new UsageError('--decompress is for datasets: leave it out, or give the file of a dataset too.');
  }
}

/**
 * Finds the algorithm or dataset in the manifest of a run that a file is, by the hash of the file.
 * @throws CmsError if the manifest has no such file that this user sends
 */
async function placeOf(file: string, { manifest }: KnownRun, key: KeyObject): Promise<Planned> {
  const hash = createHash('sha3-256');
  const size = await pipeline(createReadStream(file), hash)
    .then(async () => (await stat(file)).size)
    .catch(refuseUnreadable(file));
  const found = hash.digest();
  const isIt = (declared: { hash: number[] }) => Buffer.from(declared.hash).equals(found);
  const datasets = manifest.datasets.filter(isIt);
  const dataset = datasets.find(({ filename }) => filename === basename(file)) ?? datasets[0];
  const sealed = sealedOf(manifest, basename(file));
  const declared = (isIt(manifest.algorithm) ? manifest.algorithm : dataset) ?? sealed;
  const refuse = (message: string) => new UsageError(`${file}: ${message} Nothing was sent.`);
  if (!declared) {
    const names = ['the algorithm', ...manifest.datasets.map(({ filename }) => plainName(filename))].join(', ');
    throw refuse(`no file with its SHA3-256, ${found.toString('hex')}, is in the manifest of the run (${names}).`);
  }
  if (declared.source?.url !== undefined) throw refuse('the agent fetches this file by itself.');
  if (declared.source && isIt(declared)) throw refuse('this is the plain file, and the agent expects it encrypted.');
  const own = createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64');
  if (declared.user_key !== own) throw refuse('the manifest names another key for it than the one of --key.');
  return { file, size, dataset: 'filename' in declared ? declared.filename : undefined };
}

/** Returns the file of a manifest that a party sends encrypted, by the name of the dataset or as the only one that is left: its hash is that of the plain file. */
function sealedOf({ algorithm, datasets }: KnownRun['manifest'], name: string) {
  const isSealed = ({ source }: Pick<typeof algorithm, 'source'>) => source !== undefined && source.url === undefined;
  const named = datasets.find((each) => isSealed(each) && [each.filename, `${each.filename}.enc`].includes(name));
  return named ?? (isSealed(algorithm) ? algorithm : undefined);
}

const attempts = 5;

type Sending = SendOptions & Planned & { sender: KeyObject };

async function sendOne(
  context: Session,
  known: KnownRun,
  { file, size, dataset, sender: key, type = 'bin', arg = [], requirements, decompress = false, ...options }: Sending,
): Promise<void> {
  const progress = startProgress(context.terminal);
  for (let attempt = 1; ; attempt += 1) {
    const agent = await openRightAgentSoon(context, known, options);
    const sent: SentFile = { file, key, onProgress: (done) => progress.show(basename(file), { done, total: size }) };
    try {
      if (dataset === undefined) await sendAlgorithm(agent, { ...sent, type, args: arg, requirements });
      else await sendDataset(agent, { ...sent, name: dataset, decompress });
      return;
    } catch (error) {
      if (error instanceof AgentError && error.code !== unavailable) throw refused(file, error, context, known);
      const why = printable(causeOf(error));
      if (attempt === attempts || context.terminal.signal.aborted) {
        const message = `${printable(file)} was not sent: ${why}.`;
        throw errorOf('unavailable', message, context.typed, error);
      }
      context.noteWait(`The connection was cut: ${why}. Sending ${printable(file)} again.\n`);
    } finally {
      progress.stop();
      agent.close();
    }
    await pause(pauseInMilliseconds * 2 ** (attempt - 1), context.terminal.signal);
    const { id: run, computation_id: id } = known.run;
    expectActive(await context.client.getRun({ id, run }), context); // an agent that restarts ends its run
  }
}

/** Returns the error of an agent that refused a file or the result, with a hint about the reason. */
export function refused(what: string, { message: said }: AgentError, { command }: Context, { run }: KnownRun): CmsError {
  const hints: [RegExp, string][] = [
    [/hash does not match/, ' It is not the file of the manifest.'],
    [/signature verification|Unauthenticated/i, ' The key is not the one of the manifest.'],
    [/HTTP status 4(13|31)/, ' Something before the agent limits what passes: ask the owner of the CVM.'],
    [/not expecting this operation/, ' It waits for something else now, or has it already.'],
  ];
  const hint = hints.find(([pattern]) => pattern.test(said))?.[1] ?? '';
  const message = `The agent refused ${printable(what)}: ${printable(said)}.${hint}`;
  return errorOf('refused', message, command(`watch ${run.computation_id} --run ${shellWord(run.id)}`));
}

const patienceInMilliseconds = 60_000;
const pauseInMilliseconds = 1_000;

/** Opens a connection as `openRightAgent` does. Waits up to a minute for an agent that does not listen yet. @throws CmsError */
export async function openRightAgentSoon(...given: Parameters<typeof openRightAgent>): ReturnType<typeof openRightAgent> {
  const [{ terminal, noteWait, typed }] = given;
  const until = performance.now() + patienceInMilliseconds;
  const open = async () => {
    for (;;) {
      try {
        return await openRightAgent(...given);
      } catch (error) {
        if (!isPassing(error) || terminal.signal.aborted) throw error;
        if (performance.now() > until) {
          const message = `The agent does not answer: ${printable(causeOf(error))}.`;
          throw errorOf('unavailable', message, typed, error);
        }
        await pause(pauseInMilliseconds, terminal.signal);
      }
    }
  };
  return await noting(noteWait, 'Waiting for the agent to answer.\n', open);
}

/** Returns whether an error of a connection may pass because the agent does not listen yet: nobody answers at the address. */
function isPassing(error: unknown): boolean {
  if (error instanceof AgentError) return error.code === unavailable;
  return /^(ECONN|ETIMEDOUT|EPIPE|EHOST|ENET)/.test(codeOf(error)) || (error instanceof Error && error.name === 'TimeoutError');
}

/**
 * Waits until a run has had one of the given events, such as `ConsumingResults/Ready`.
 * @param awaited says what the events stand for, such as `the result is ready`
 * @throws CmsError if the run ends before
 */
export async function untilEvent(
  context: Session,
  { run: { id: run, computation_id: id } }: KnownRun,
  events: string[],
  awaited: string,
): Promise<void> {
  const found = new AbortController();
  const signal = AbortSignal.any([context.terminal.signal, found.signal]);
  const onEvent = ({ event_type, status }: { event_type: string; status: string }) => {
    if (events.includes(`${event_type}/${status}`)) found.abort();
  };
  try {
    const wait = () => waitForRun(context.client, { id, run, signal, onInterruption: context.outages.began, onEvent });
    const { status, reason } = await noting(context.noteWait, `Waiting until ${awaited}.\n`, wait);
    if (found.signal.aborted) return;
    throw errorOf(
      status === 'cancelled' ? 'runCancelled' : 'runFailed',
      `The run has ${printable(status)}: ${printable(reason ?? '')}`,
      context.command(`events ${id} --run ${shellWord(run)}`),
    );
  } catch (error) {
    if (!found.signal.aborted) throw error;
  }
}

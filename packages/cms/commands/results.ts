import { spawn } from 'node:child_process';
import { type KeyObject } from 'node:crypto';
import { open, stat, writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { causeOf, isLoopback, pause, type Schemas, sizeText, waitForRun } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { quotedName, userText } from 'computation-management-formats/quoted-name';
import { decisionText, decisions, longestNote } from 'computation-management-formats/consent';
import { checkEvidence, logOfEvidence } from 'computation-management-verify';
import { shellWord, usersText } from 'computation-management-words';
import { fetchResult } from '../agent/agent-calls.ts';
import { type AgentConnection, AgentError } from '../agent/agent-connection.ts';
import { type AgentOptions, type KnownRun, readKnownRun } from '../agent/right-agent.ts';
import { openRightAgentSoon, refused, untilEvent } from '../agent/send-files.ts';
import { named } from '../context/computation-reference.ts';
import { unlessUnknown } from '../context/find-by-name.ts';
import { keyFile } from '../context/missing-items.ts';
import { asked, confirm, type Context, type Session } from '../context/context.ts';
import { readPrivateKey } from '../files/key-files.ts';
import { followService } from '../files/seen-logs.ts';
import { download, expectFile, handIn, measure } from '../files/transfers.ts';
import { writeWhole } from '../files/write-whole.ts';
import { CmsError, errorOf, UsageError } from '../terminal/cms-error.ts';
import { noting, startProgress } from '../terminal/progress.ts';
import { signText } from './approvals.ts';
import { agentOptionNames, type CmsCommand, given } from './options.ts';

type Run = Schemas['Run'];
type Result = NonNullable<Run['result']>;

interface ResultOptions extends AgentOptions {
  key?: string;
  run?: string;
  output?: string;
}

interface ReviewOptions extends ResultOptions {
  file?: string;
  check?: string;
  release?: true;
  withhold?: true;
  note?: string;
  yes?: boolean;
}

export function addResultCommands(program: CmsCommand): void {
  program
    .subcommand('review', 'review the result of a run: fetch it, check it, hand it in, and release or withhold it')
    .option('--key <FILE>', 'your private key, to fetch the result from the agent and to sign the decision')
    .excluding('--file <FILE>', 'the result, if you have it: no agent is asked then', ['output', ...agentOptionNames])
    .option('--check <COMMAND>', 'a command to run with the file as its last argument; the note says how it ended')
    .option('--release', 'let the consumers have it')
    .option('--withhold', 'never let the consumers have it')
    .option('--note <TEXT>', 'what you say about it; everyone in the domain reads it')
    .option('--run <RUN>', 'the run (default: the latest)')
    .option('--output <FILE>', 'where to save the result (default: result-RUN.zip)')
    .option('--yes', 'do not ask')
    .agentOptions()
    .onComputation(review);

  program
    .subcommand('result', 'get the result of a run: from the service once reviewers released it, else from the agent')
    .option('--key <FILE>', 'your private key, to fetch the result from the agent')
    .option('--run <RUN>', 'the run (default: the latest)')
    .option('--output <FILE>', 'where to save the archive', 'result.zip')
    .agentOptions()
    .onComputation(async (context, id, { output = '', ...options }: ResultOptions) => {
      if (await stat(output).catch(() => undefined)) {
        throw new UsageError(`${output} is there already.`, `${context.typed} --output FILE`);
      }
      const run = await context.client.getRun({ id, run: options.run });
      if (run.result && options.key === undefined) return await getReleased(context, { run, result: run.result, output });
      const fetched = await fetchFromAgent(context, id, { ...options, run: run.id, output });
      context.print({ run: run.id, output, ...fetched }, () => `Saved the result in ${output}.\n`);
    });
}

/**
 * Downloads a released result, which must be the file that the statement about it names, signed by the service. The service's log must
 * continue what was seen of it.
 * @throws CmsError that says where it is otherwise
 */
async function getReleased(context: Session, { run, result, output }: { run: Run; result: Result; output: string }) {
  const { id: runId, computation_id: id } = run;
  const { asset } = result;
  const events = context.command(`events ${id} --run ${shellWord(runId)}`);
  if (result.state !== 'released' || asset === null) throw errorOf('conflict', await whyNotYet(context, run, result), events);
  const signed = await context.client.getResult({ id, run: runId });
  const evidence = JSON.stringify(signed);
  const found = await checkEvidence({ evidence, keys: JSON.stringify(await context.client.jwks()) });
  const wrong = found.filter(({ verdict }) => verdict === 'does not hold').map(({ sentence }) => printable(sentence));
  const { run: stated, state, checksum: named } = signed.statement;
  if (stated !== runId || state !== 'released') wrong.push('It is not about the release of this result.');
  if (wrong.length > 0) throw new CmsError(['The statement about the result is wrong. Nothing was saved.', ...wrong].join('\n'));
  const { log, tags } = await logOfEvidence(evidence);
  await followService(context, { server: context.server, shown: [log], tags: [...tags] });
  const { size, checksum } = await writeWhole(output, async (file) => {
    const given = await download(context, { id: asset, file, mustBeNew: false }).catch((error: unknown) => {
      unlessUnknown(error);
      const on = printable(result.decisions.at(-1)?.decided_at.slice(0, 10) ?? '');
      const why = 'its days are over, or the owner or an administrator deleted it.';
      throw errorOf('notFound', `The result was released on ${on} and is deleted: ${why}`, events, error);
    });
    if (given.checksum === named) return given;
    throw new CmsError('The service gives another file than the one that its signed statement names. Nothing was saved.');
  });
  const saved = `Saved the result in ${output} (${sizeText(size)})\n  SHA3-256 ${checksum}, as the statement says\n`;
  context.print({ run: runId, output, size, checksum, decisions: result.decisions }, () => saved + decisionsText(result));
  context.note(`Next: ${context.command(`evidence ${id} --run ${shellWord(runId)} --verify`)}\n`);
}

/** Returns whether a run has ended without a result. */
const isOver = ({ status }: Run) => status === 'failed' || status === 'cancelled';

const withoutResult = ({ status }: Pick<Run, 'status'>) => `The run is ${printable(status)}. Only a completed run has a result.`;

/** Says where a result under review is, and why the consumers do not have it. */
async function whyNotYet({ client }: Session, { id: run, status, computation_id: id }: Run, result: Result): Promise<string> {
  if (status !== 'completed') return withoutResult({ status });
  const { result_review: review } = (await client.getEvidence({ id, run })).statement.configuration;
  const by = review ? ` Its reviewers are ${usersText(review.reviewers)}.` : '';
  const isOnItsWay = result.state === 'awaiting_file' && result.asset !== null;
  if (isOnItsWay) return `A reviewer is handing in the result: its file has not arrived yet.${by}`;
  if (result.state === 'awaiting_file') return `The result is with the agent: no reviewer has handed it in.${by}`;
  const decided = result.decisions.length === 0 ? 'Nobody has decided.\n' : decisionsText(result);
  if (result.state === 'withheld') return `The reviewers withhold the result.\n${decided}`.trimEnd();
  return `The result is under review.${by}\n${decided}`.trimEnd();
}

const decisionsText = ({ decisions: made }: Result) =>
  made
    .map(({ reviewer, decision, note }) => `${userText(reviewer)}: ${decision}${note === '' ? '' : `, ${quotedName(note)}`}\n`)
    .join('');

/** The time in milliseconds within which this machine gives the result of a simulated CVM, and its largest size in bytes. */
const longestSimulatedWait = 5_000;
const largestSimulatedResult = 1024 ** 2;

/**
 * Returns whether a simulated CVM of `npm start` may have the result of a run. False if the result must be that of an agent: the user names the
 * agent, a policy demands a CVM that attests, or the CVM is registered, and simulated ones are not.
 */
async function mayBeSimulated(
  { client }: Session,
  { run, configuration }: KnownRun,
  { agent, agentFingerprint, agentCertificate, unbound }: AgentOptions,
): Promise<boolean> {
  const isNamed = [agent, agentFingerprint, agentCertificate, unbound].some((option) => option !== undefined);
  if (isNamed || configuration.attestation_policy || !isLoopback(new URL(client.baseUrl))) return false;
  return (await client.getCvm({ cvmID: run.cvm_id }).catch(unlessUnknown)) === undefined;
}

/** Returns the result of a run that a simulated CVM has. Undefined if there is none. */
async function simulatedResult({ client: { baseUrl } }: Session, run: string): Promise<Buffer | undefined> {
  const request = { redirect: 'error', signal: AbortSignal.timeout(longestSimulatedWait) } as const;
  const answer = await fetch(`${baseUrl}/local/results/${encodeURIComponent(run)}`, request).catch(() => undefined);
  const isSmall = Number(answer?.headers.get('content-length') ?? Infinity) <= largestSimulatedResult;
  return answer?.ok === true && isSmall ? Buffer.from(await answer.arrayBuffer()) : undefined;
}

interface Fetched {
  /** The number of bytes of the result. */
  size: number;
  /** True for a result that a simulated CVM made up. */
  simulated?: true;
}

/** Saves the result of a run as its agent gives it, once it is ready. @throws CmsError */
async function fetchFromAgent(
  context: Session,
  id: string,
  { key: keyIn, output, ...options }: AgentOptions & { key?: string; output: string; run: string },
): Promise<Fetched> {
  const known = await readKnownRun(context, id, options);
  const isSimulated = await mayBeSimulated(context, known, options);
  const needsKey = () => new UsageError('The agent gives the result to the holder of a key: --key FILE.', context.help);
  if (keyIn === undefined && !isSimulated && !isOver(known.run)) throw needsKey();
  const key = keyIn === undefined ? undefined : await readPrivateKey(keyIn, context.terminal);
  const ends = ['ConsumingResults/Ready', 'Complete/Completed', ...(isSimulated ? [] : ['Failed/Failed'])];
  if (known.run.status !== 'completed') await untilEvent(context, known, ends, 'the CVM has the result');
  const simulated = isSimulated ? await simulatedResult(context, known.run.id) : undefined;
  if (simulated) {
    await writeFile(output, simulated);
    context.note('A simulated CVM made this result. It ran no algorithm.\n');
    return { size: simulated.length, simulated: true };
  }
  if (!key) throw needsKey();
  return await writeWhole(output, async (part) => {
    const file = await open(part, 'w').catch((error: unknown) => {
      throw new UsageError(`Cannot write ${output}: ${causeOf(error)}`, undefined, error);
    });
    const progress = startProgress(context.terminal);
    let agent: AgentConnection | undefined;
    let size = 0;
    try {
      agent = await openRightAgentSoon(context, known, options);
      for await (const bytes of fetchResult(agent, key)) {
        await file.write(bytes);
        progress.show(output, { done: (size += bytes.length), total: size });
      }
      return { size };
    } catch (error) {
      throw error instanceof AgentError ? refused('the result', error, context, known) : error;
    } finally {
      progress.stop();
      agent?.close();
      await file.close();
    }
  });
}

async function review(context: Session, id: string, options: ReviewOptions): Promise<void> {
  const { client, user } = context;
  if (options.release && options.withhold) throw new UsageError('Choose one: --release or --withhold.', context.help);
  const key = options.key === undefined ? undefined : await readPrivateKey(options.key, context.terminal);
  let run = await client.getRun({ id, run: options.run });
  const { id: runId } = run;
  if (!run.result) throw errorOf('conflict', 'The result of this run has no review.');
  const refuse = (message: string, next: string) => errorOf('conflict', message, context.command(next));
  if (isOver(run)) throw refuse(withoutResult(run), `runs ${id}`);
  const { state, decisions: made } = run.result;
  if (made.some(({ reviewer }) => reviewer === user))
    throw refuse('You have decided on this result. A decision is final.', `result ${id}`);
  if (state === 'released' || state === 'withheld') throw refuse(`The result is already ${state}.`, `result ${id}`);
  const { file, ...about } = await fileToReview(context, run, options);
  const { size, checksum } = await measure(context, file);
  if (options.file === undefined && state === 'under_review' && checksum !== run.result.checksum) {
    const own = `${printable(file)} is not the file that was handed in. Nothing was replaced or decided.\n  SHA3-256 ${checksum}\n`;
    const other = `  handed in ${printable(run.result.checksum ?? '')}\nFetch that to another --output, or hand in yours with --file.`;
    throw new UsageError(own + other, context.command(`review ${id} --run ${shellWord(runId)} --output FILE`));
  }
  context.note(`${printable(file)} (${sizeText(size)})\n  SHA3-256 ${checksum}\n`);
  const checked = options.check === undefined ? undefined : await runCheck(context, options.check, file);
  const note = noteOf(options, checked);

  run = await waitForRun(client, { id, run: runId, signal: context.terminal.signal, onInterruption: context.outages.began });
  const before = run.result;
  if (before && before.asset !== null && before.checksum !== checksum) {
    const other = 'Another file was handed in, with the SHA3-256 ' + printable(before.checksum ?? '');
    if (before.decisions.length > 0) throw errorOf('conflict', `${other}. Review that one.`);
    if (options.yes !== true) await confirm(context, `${other}. Hand in yours in its place?`);
  }
  const decision = await chosenDecision(context, options);
  if (decision === 'release' && checked !== undefined && checked.exit !== 0 && options.yes !== true) {
    await confirm(context, `The check ended with ${String(checked.exit)}. Release the result all the same?`);
  }
  const signature = decision && (await signDecision(key, context, { run, checksum, decision, note, reviewer: user }));
  await handIn(context, { id, run: runId, file, file_name: basename(file) });
  const result = await untilUnderReview(context, id, runId);

  const handedIn = { run: runId, file, ...about, size, checksum };
  const check = checked ?? null;
  if (decision === undefined) {
    const undecided = 'Handed in. You have not decided: --release lets the consumers have it, --withhold never.\n';
    context.print({ ...handedIn, result, check }, () => undecided);
    const withKey = options.key === undefined ? '' : ` --key ${shellWord(options.key)}`;
    const next = `review ${id} --run ${shellWord(runId)} --file ${shellWord(file)}${withKey} --release`;
    context.note(`Next: ${context.command(next)}\n`);
    return;
  }
  const body = { decision, checksum, note, ...given({ signature }) };
  const decided = (await client.decideResult({ id, run: runId, body })).result;
  const said = `You ${decision} the result${signature === undefined ? '' : ', signed'}. It is ${printable(decided?.state ?? '')}.\n`;
  context.print({ ...handedIn, decision, note, check, result: decided }, () => said);
  context.note(`Next: ${context.command(`evidence${named(context, id)} --verify`)}\n`);
}

/**
 * Signs a decision. Undefined without a key, if the run demands no signature.
 * @throws CmsError if the run demands one, or its manifest has another key of the reviewer
 */
async function signDecision(
  key: KeyObject | undefined,
  { client, domain, typed }: Session,
  { run, ...decided }: { run: Run } & Pick<Parameters<typeof decisionText>[0], 'checksum' | 'decision' | 'note' | 'reviewer'>,
): Promise<string | undefined> {
  const { id, computation_id: computation, manifest_digest } = run;
  const { configuration, manifest } = (await client.getEvidence({ id: computation, run: id })).statement;
  if (!key) {
    if (configuration.approval !== 'all_signed') return undefined;
    const message = '--key: This computation requires signed decisions. Nothing was handed in.';
    throw new UsageError(message, `${typed} --key ${keyFile}`);
  }
  const own = configuration.result_review?.reviewers.indexOf(decided.reviewer) ?? -1;
  const signed = signText(key, decisionText({ domain, computation, run: id, manifest_digest, ...decided }));
  const expected = manifest.result_consumers[own]?.user_key;
  if (expected === undefined || expected === signed.key) return signed.signature;
  throw new UsageError('--key: The manifest of the run has another key of yours. Nothing was handed in.');
}

/**
 * Returns the file to review: the given one, the one that is at the output already, the one that was handed in, or the result as the agent
 * gives it. An option of the agent demands the last, although a file was handed in.
 * @throws CmsError without the file
 */
async function fileToReview(
  context: Session,
  { id: run, computation_id: id, result }: Run,
  { file, output = `result-${run}.zip`, ...options }: ReviewOptions,
): Promise<Pick<Fetched, 'simulated'> & { file: string }> {
  if (file !== undefined) {
    await expectFile(file);
    return { file };
  }
  const handedIn = result?.state === 'under_review' ? result.asset : null;
  const fromAgent = handedIn === null || agentOptionNames.some((name) => name in options);
  if (await stat(output).catch(() => undefined)) {
    if (handedIn !== null && fromAgent) throw new UsageError(`${output} is there already.`, `${context.typed} --output FILE`);
    context.note(`${output} is there already, and is not fetched again.\n`);
    return { file: output };
  }
  if (!fromAgent) {
    await download(context, { id: handedIn, file: output, mustBeNew: true });
    const caution = 'The agent signs no result: only who fetched it knows that it is the result.';
    context.note(`This is the file that was handed in. ${caution}\n`);
    return { file: output };
  }
  const { size: _, ...about } = await fetchFromAgent(context, id, { ...options, run, output });
  return { file: output, ...about };
}

/** The end of a check of a result: its exit code or signal, and the last part of what it printed. */
interface Checked {
  command: string;
  exit: number | string;
  output: string;
}

const lengthOfOutput = 500;

/** Runs the command of a user with the name of a file as its last argument. No shell reads the name. Shows what the command prints. */
async function runCheck({ terminal, isJson }: Context, command: string, file: string): Promise<Checked> {
  const child = spawn('/bin/sh', ['-c', `${command} "$1"`, 'sh', resolve(file)], { signal: terminal.signal });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      if (!isJson) terminal.err(text.split('\n').map(printable).join('\n'));
      output = (output + text).slice(-2 * lengthOfOutput);
    });
  }
  const exit = await new Promise<number | string>((done, fail) => {
    child.on('error', fail);
    child.on('close', (code, signal) => done(code ?? signal ?? 1));
  });
  return { command, exit, output: printable(output.replaceAll(/\s+/g, ' ').trim()).slice(-lengthOfOutput).toWellFormed() };
}

/** Returns the note of a decision: the words of the reviewer, then how the check ended. @throws CmsError if it is too long */
function noteOf({ note = '' }: ReviewOptions, checked: Checked | undefined): string {
  const said = checked && `Check ${quotedName(checked.command)} ended with ${checked.exit}: ${checked.output}`;
  const whole = [note, said].filter((part) => part !== undefined && part !== '').join(' ');
  const { length } = Array.from(whole);
  if (length <= longestNote) return whole;
  throw new UsageError(`A note has at most ${longestNote} characters, with the end of the check. This one has ${length}.`);
}

async function chosenDecision(context: Context, { release, withhold }: ReviewOptions) {
  if (release) return 'release';
  if (withhold) return 'withhold';
  const answer = await asked(context, 'release or withhold (empty: decide later)');
  const decision = decisions.find((each) => each === answer);
  if (answer !== undefined && !decision) throw new UsageError('Expected release or withhold. You have not decided.');
  return decision;
}

const pauseInMilliseconds = 200;

/** The longest time in which the service notes that a file has arrived, which it has hashed already. */
const patienceInMilliseconds = 60_000;

/**
 * Waits until the service has noted that the file which was handed in has arrived.
 * @throws CmsError if it has not after a minute: the file may be handed in again
 */
async function untilUnderReview(context: Session, id: string, run: string): Promise<Result | null> {
  const { signal } = context.terminal;
  const until = performance.now() + patienceInMilliseconds;
  const work = async () => {
    while (performance.now() < until) {
      const { result } = await context.client.getRun({ id, run, signal });
      if (result?.state !== 'awaiting_file') return result;
      await pause(pauseInMilliseconds, signal);
    }
    const message = 'The file was handed in, but the service has not noted it.';
    throw errorOf('unavailable', message, context.typed);
  };
  return await noting(context.noteWait, 'Waiting until the service has noted the file.\n', work);
}

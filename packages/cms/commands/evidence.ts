import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { items, pages, tokensOfEvidence } from 'computation-management-client';
import { checkpointIn, isWitnessVkey } from 'computation-management-transparency-log';
import {
  archiveIn,
  checkEvidence,
  compareEvidence,
  exitCodeOf,
  findSecondEntries,
  formatFindings,
  keysOfArchive,
  LogAlarm,
  type LogKnowledge,
  logOfEvidence,
  shortForm,
  tagsOfRun,
  UnreadableError,
} from 'computation-management-verify';
import { checkEvidenceByTestRoots } from 'computation-management-verify/test-roots';
import { shellWord } from 'computation-management-words';
import { loggedActs } from 'computation-management-formats/vocabulary';
import type { Context } from '../context/context.ts';
import { UsageError } from '../terminal/cms-error.ts';
import { filesBeside, type Material, materialFrom, readBytes, textOf } from '../files/read-file.ts';
import { followService, readPins, replacePin, saveAlarm, tilesOf } from '../files/seen-logs.ts';
import { evidenceFiles, savedRun, saveEvidence, saveToken, tokenEnding, tokenFile } from '../files/saved-evidence.ts';
import { type CmsCommand, collect, wholeNumber } from './options.ts';
import { noting } from '../terminal/progress.ts';

/** The default directory of `cms evidence` and `cms verify`. */
const defaultDirectory = 'evidence';

interface EvidenceOptions {
  run?: string;
  output?: string;
  verify?: boolean;
}

export function addEvidenceCommands(program: CmsCommand): void {
  program
    .subcommand('evidence', 'save the signed statement about a run, the keys, and the events')
    .option('--run <RUN>', 'the run (default: the latest)')
    .option('--output <DIR>', 'where to save the files (default: evidence, or evidence-RUN if that has another run)')
    .option('--verify', 'check them too, as cms verify does')
    .onComputation(async (context, id, options: EvidenceOptions) => {
      const { client, server } = context;
      const { id: run, result } = await client.getRun({ id, run: options.run });
      const isFree = ['', undefined, run].includes(await savedRun(defaultDirectory));
      const { output = isFree ? defaultDirectory : `${defaultDirectory}-${run}` } = options;
      const before = await savedRun(output);
      if (before !== undefined && before !== run) {
        const next = `evidence ${id} --run ${shellWord(run)} --output ${shellWord(`evidence-${run}`)}`;
        const found = before === '' ? `an ${evidenceFiles.evidence} that cannot be read` : `the evidence of the run ${before}`;
        throw new UsageError(`${output} already contains ${found}.`, context.command(next));
      }
      const evidence = await client.getEvidence({ id, run });
      const keys = await client.jwks();
      const events = [];
      for await (const event of items(client, 'listEvents', { id })) events.push(event);
      const isReviewed = result?.state === 'released' || result?.state === 'withheld';
      const statement = isReviewed ? await client.getResult({ id, run }) : undefined;
      await saveEvidence(output, { evidence, keys, events: { events }, result: statement });
      const tokens = tokensOfEvidence(evidence, await client.getAttestation({ id, run }));
      for (const token of tokens) await saveToken(output, token);
      const stated = statement === undefined ? [evidence] : [evidence, statement];
      const logs = await Promise.all(stated.map(async (each) => await logOfEvidence(JSON.stringify(each))));
      const tags = logs.flatMap((each) => [...each.tags]);
      await followService(context, { server, shown: logs.map(({ log }) => log), tags });
      const { result: resultFile, ...always } = evidenceFiles;
      const files = [...Object.values(always), ...(statement ? [resultFile] : []), ...tokens.map(tokenFile)];
      if (options.verify === true) {
        context.note(`Saved ${files.join(', ')} in ${output}.\n`);
        await verify(context, output, {});
        return;
      }
      context.print({ run, directory: output, files }, () => `Saved ${files.join(', ')} in ${output}.\n`);
      context.note(`Next: cms verify ${shellWord(output)}\n`);
    });

  program
    .subcommand('verify', 'check saved evidence, without the service')
    .argument('[PATH]', 'the directory of cms evidence, the file that the console saves, or a statement', defaultDirectory)
    .option('--keys <FILE>', 'the public keys that you trust (default: keys.json in the directory)')
    .option('--result <FILE>', 'the statement about the result (default: result.json in the directory)')
    .repeatable('--events <FILE>', 'a page of events; default: events.json in the directory')
    .repeatable('--with <PATH>', 'evidence of another party or run, to compare with this and its log: a file or directory')
    .repeatable('--token <FILE>', 'an attestation token; default: those in the directory')
    .repeatable('--witness <VKEY>', 'a witness that must have signed the state of the log', collectWitnesses)
    .option('--witnesses <COUNT>', 'how many of them must have signed (default: all)', wholeNumber(1))
    .materialOptions()
    .does(async (context, path: string, options: VerifyFiles) => {
      await verify(context, path, options);
    });

  program
    .subcommand('log', 'the log of the service, which is the same for everyone')
    .subcommand('check', 'check that the log continues what you saw, and has no second entry of the runs that you can read')
    .repeatable('--with <FILE>', 'evidence of another party, to compare with')
    .does(async (context, options: { with?: string[] }) => {
      const { server } = await context.target();
      const known = (await readPins(context)).get(server);
      const none = new UsageError('No log of this service was seen here yet.', context.command('evidence'));
      if (!known) throw none;
      const readShown = async (file: string) => {
        const { log } = await logOfEvidence(await textOf(file));
        if (log.origin === known.origin && log.vkey === known.vkey) return log;
        const message = `${file} is of another log, ${log.origin}. If this service signed it, the service has shown two logs.`;
        throw new UsageError(message, `cms verify ${shellWord(file)}`);
      };
      const shown = await Promise.all((options.with ?? []).map(readShown));
      const tags = await tagsOfRuns(context);
      const pin = await followService(context, { server, shown, tags });
      if (!pin) throw none;
      const state = checkpointIn(pin.checkpoint);
      const { origin, size } = state;
      const before = new Map(Object.entries(pin.tags));
      const find = () => findSecondEntries(pin, pin.checked, before, tilesOf(server, context.terminal.signal));
      const found = await noting(context.noteWait, 'Reading the entries of the log.\n', find).catch(async (error: unknown) => {
        throw error instanceof LogAlarm ? await saveAlarm(context, server, error) : error;
      });
      await replacePin(context, server, pin, { ...pin, checked: size, tags: Object.fromEntries(found) });
      const read = size - pin.checked;
      const runs = found.size / loggedActs.length;
      const shownRuns = runs === 1 ? 'run' : `${runs} runs`;
      const continued = `The log ${origin} continues what was seen of it. It has ${size} entries.\n`;
      const second = `No second entry of the ${shownRuns} that you know is among the ${read} that were read.\n`;
      context.print({ origin, size, checkpoint: pin.checkpoint, entries_read: read, runs }, () => continued + second);
      context.note(`Compare with the other parties: ${shortForm(state)}\n`);
    });
}

/** Collects the keys of witnesses that an option gives. @throws InvalidArgumentError for a text that is no such key */
function collectWitnesses(text: string, before?: string[]): string[] {
  if (isWitnessVkey(text)) return collect(text, before);
  throw new InvalidArgumentError(
    'Expected the vkey of a witness: its name, an identifier and its key for cosignatures of Ed25519.',
  );
}

/** Verifies saved evidence of a run and prints which facts hold. Sets the exit code 1 if a fact does not hold, 3 if one was not checked. */
async function verify(context: Context, path: string, options: VerifyFiles): Promise<void> {
  const findings = [...(await findingsIn(context, path, options)), ...(options.keys === undefined ? [keysOfArchive] : [])];
  const exitCode = exitCodeOf(findings);
  context.print({ items: findings, holds: exitCode === 0 }, () => formatFindings(findings));
  context.exitWith(exitCode);
}

async function findingsIn(context: Context, path: string, options: VerifyFiles) {
  try {
    const others = await Promise.all((options.with ?? []).map(statementsIn));
    const files = { ...(await readEvidence(path, options)), log: await readKnowledge(context, options, others) };
    const roots = options.root && (await Promise.all(options.root.map(readBytes)));
    const own = await (roots ? checkEvidenceByTestRoots(files, roots) : checkEvidence(files));
    return [...own, ...(await compareEvidence(files, others.flat()))];
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    const expected = ' is not JSON: expected a file that cms evidence or the console saved.';
    throw new UsageError(error.message.replace(/ is not JSON: .*/s, expected), 'cms evidence COMPUTATION');
  }
}

/** Reads the statements in a directory of `cms evidence`, a file of the console, or a file with a statement alone. */
async function statementsIn(path: string): Promise<string[]> {
  const isDirectory = (await stat(path).catch(() => undefined))?.isDirectory() === true;
  if (!isDirectory) {
    const text = await textOf(path);
    return [archiveIn(text)?.evidence ?? text];
  }
  const { evidence, result } = evidenceFiles;
  const hasResult = (await readdir(path)).includes(result);
  return await Promise.all([evidence, ...(hasResult ? [result] : [])].map(async (name) => await textOf(join(path, name))));
}

interface VerifyFiles extends Material {
  with?: string[];
  keys?: string;
  result?: string;
  events?: string[];
  token?: string[];
  witness?: string[];
  witnesses?: number;
}

/** Returns what this machine has seen of logs, with what the options name of other parties and witnesses. */
async function readKnowledge(
  context: Context,
  { witness = [], witnesses }: VerifyFiles,
  statements: readonly (readonly string[])[],
): Promise<LogKnowledge> {
  const logsOf = async (files: readonly string[]) =>
    await Promise.all(files.map(async (each) => (await logOfEvidence(each)).log));
  const others = await logsOf(statements.flatMap((files) => files.slice(0, 1)));
  // The log grows between the evidence and the result, so states that results show may have another size.
  const seen = [...(await readPins(context)).values(), ...(await logsOf(statements.flatMap((files) => files.slice(1))))];
  const needed = witnesses ?? witness.length;
  return { seen, others, ...(needed > 0 && { witnesses: { vkeys: witness, needed } }) };
}

/** Reads the files that `cms evidence` saved in a directory, or the files that the options of `cms verify` name. */
async function readEvidence(path: string, options: VerifyFiles) {
  const found = await stat(path).catch(() => undefined);
  if (!found) {
    const message = `There is no file or folder ${JSON.stringify(path)}.`;
    throw new UsageError(message, path === defaultDirectory ? 'cms evidence' : filesBeside(path));
  }
  const isDirectory = found.isDirectory();
  const there = isDirectory ? await readdir(path) : [];
  const inDirectory = (name: keyof typeof evidenceFiles) =>
    there.includes(evidenceFiles[name]) ? join(path, evidenceFiles[name]) : undefined;
  const evidence = await textOf(isDirectory ? join(path, evidenceFiles.evidence) : path);
  const saved = isDirectory ? undefined : archiveIn(evidence);
  const keysFile = options.keys ?? inDirectory('keys');
  const result = options.result ?? inDirectory('result');
  const keys = keysFile === undefined ? saved?.keys : await textOf(keysFile);
  if (keys === undefined) throw new UsageError('The public keys are missing.', `cms verify ${shellWord(path)} --keys FILE`);
  const events = inDirectory('events');
  const eventFiles = options.events ?? (events === undefined ? undefined : [events]);
  const tokens = there.filter((name) => name.endsWith(tokenEnding)).map((name) => join(path, name));
  return {
    ...(saved ?? { evidence, tokens: await Promise.all(tokens.map(readBytes)) }),
    keys,
    ...(result !== undefined && { result: await textOf(result) }),
    ...(eventFiles && { events: await Promise.all(eventFiles.map(textOf)) }),
    ...(options.token && { tokens: await Promise.all(options.token.map(readBytes)) }),
    ...(await materialFrom(options)),
  };
}

/** The number of runs from which reading their list takes seconds, so that a note announces the wait. */
const manyRuns = 1_000;

/** Returns the tags of the runs that the user can read. Without a login, none: then only the runs count whose evidence was saved here. */
async function tagsOfRuns(context: Context): Promise<[tag: string, index: number | null][]> {
  const { server, profile } = await context.target();
  if (!context.terminal.env['CMS_TOKEN'] && profile?.server !== server) {
    context.note('You are not logged in: only runs whose evidence you saved are looked for.\n');
    return [];
  }
  const { client, domain } = await context.connect();
  const tags = [];
  for await (const { items: runs, offset, total } of pages(client, 'listRuns')) {
    if (offset === 0 && total >= manyRuns) context.noteWait(`Reading the list of ${total} runs.\n`);
    tags.push(...runs.flatMap(({ id: run, computation_id: computation }) => [...tagsOfRun({ domain, computation, run })]));
  }
  return tags;
}

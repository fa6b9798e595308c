import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { sizeText } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { isNothing, shellWord, userText, usersText } from 'computation-management-words';
import { confirm, type Context } from '../context/context.ts';
import { CmsError, UsageError } from '../terminal/cms-error.ts';
import {
  type Collaboration,
  exampleCollaboration,
  usualCollaboration,
  type Party,
  type PlannedAsset,
  parseCollaboration,
  readCollaboration,
} from '../collaboration/collaboration.ts';
import { type Lowering, otherAssets, planAsset, planComputation, planKey, type Step } from '../collaboration/sync.ts';
import { exportedCollaboration, yamlText } from '../collaboration/export.ts';
import { machinesFor, nextRun, thenUse, withoutMachine } from '../context/computation-reference.ts';
import { makeKeyPair, privateKeyBeside, readPublicKey } from '../files/key-files.ts';
import { formatMissing, missingItems } from '../context/missing-items.ts';
import { table } from '../terminal/table.ts';
import { expectFile } from '../files/transfers.ts';
import type { CmsCommand } from './options.ts';
import { shellPath } from '../terminal/text.ts';

export function addInitCommands(program: CmsCommand): void {
  program
    .subcommand('init', 'set up your part of a collaboration from a YAML file; repeat it whenever the file has changed')
    .argument('[FILE]', 'the collaboration')
    .option('--example', 'print a file to start from')
    .option('--allow-outside', 'take files that are outside the folder of FILE, or hidden in it')
    .option('--yes', 'upload without a question; what protects you is never lowered')
    .does(async (context, file: string | undefined, options: Options) => {
      if (options.example === true) return printExample(context, file);
      if (file === undefined) {
        const makeOne = `cms init --example > ${usualCollaboration}`;
        const next = existsSync(usualCollaboration) ? `cms init ${usualCollaboration}` : makeOne;
        throw new UsageError('Name the file of the collaboration.', next);
      }
      const plan = await readCollaboration(file);
      const session = await context.connect();
      const { client, domain, user } = session;
      const { home } = context.terminal;
      const party = partyOf(context, plan, user, file);
      const { parts, key } = await expectParts(context, { file, home, ...options }, party);
      const computation = await planComputation(session, plan.computation);
      const planned = [];
      for (const part of parts) planned.push({ ...part, ...(await planAsset(session, computation.id, part)) });
      const plannedKey = key && (await planKey(session, computation.id, key));
      const uploads = planned.filter(({ isUpload }) => isUpload).map((part) => uploadText(part, domain, home));
      if (key && plannedKey?.isUpload === true) {
        uploads.push(`public key ${shellPath(key.file, home)} (${key.fingerprint}): every party sees it`);
      }
      await confirmUploads(context, uploads, options);
      const lowers = [computation, ...planned].flatMap((each) => each.lowers);
      const mayLower = await mayLowerAll(context, lowers, { file, ...options });
      const { id, step } = await computation.apply(mayLower);
      await thenUse(session, id);
      const steps: Step[] = [step];
      try {
        const synced: string[] = [];
        for (const part of planned) {
          const { step, asset } = await part.apply(mayLower, id);
          steps.push(step);
          synced.push(asset);
        }
        steps.push(...(await otherAssets(session, id, synced)));
        if (plannedKey) steps.push(await plannedKey.apply(id));
      } catch (error) {
        if (context.isJson) context.print({ computation: id, items: steps }, () => '');
        context.note(formatSteps(id, steps));
        throw error;
      }
      const { missing_items } = await client.dryRun({ id });
      context.print({ computation: id, items: steps, missing_items }, () => formatSteps(id, steps));
      if (context.isJson) return;
      const made = await client.getComputation({ id });
      if (isNothing(missing_items)) {
        const machines = await machinesFor(session, made);
        if (machines && machines.fitting === undefined) {
          context.note(`${withoutMachine(machines, context.terminal.columns)}Next: ${context.command('cvm register CVM')}\n`);
        } else context.note(`Ready to run.\n${await nextRun(session, id, machines?.fitting)}`);
        return;
      }
      const { approval, assets } = made;
      const privateKey = key && privateKeyBeside(key.file);
      const ownKey = privateKey === undefined ? undefined : { user, file: shellPath(privateKey, home) };
      const items = missingItems(missing_items, { id, isSigned: approval === 'all_signed', assets, ownKey });
      context.note(`Missing before a run:\n${formatMissing(items, { user, command: context.command })}`);
    });

  program
    .subcommand('export', 'print the collaboration file of a computation, which cms init reads; each party adds its key')
    .onComputation(async (context, id) => {
      const exported = await exportedCollaboration(context, id);
      if (context.isJson) context.print(exported, () => '');
      else context.terminal.out(yamlText(exported));
    });
}

/** Prints an example of the file of `cms init`. @throws CmsError if the command names a file, which a user may expect to be written */
function printExample({ print }: Context, file: string | undefined): void {
  if (file !== undefined) {
    const next = `cms init --example${existsSync(file) ? '' : ` > ${shellWord(file)}`}`;
    throw new UsageError('--example prints to standard output, and takes no FILE.', next);
  }
  print(parseCollaboration(exampleCollaboration, 'example'), () => exampleCollaboration);
}

/**
 * Returns what the caller brings to a collaboration, by the file of `cms init`.
 * @throws CmsError if the caller has no part in the collaboration
 */
function partyOf({ command, note }: Context, { computation, parties }: Collaboration, user: string, file: string) {
  if (!Object.hasOwn(parties, computation.owner)) note(`${file} has no part for the owner ${userText(computation.owner)}.\n`);
  if (Object.hasOwn(parties, user)) return parties[user];
  if (user === computation.owner) return undefined;
  throw new UsageError(
    `You are ${userText(user)}, but ${file} has the parties ${usersText(Object.keys(parties))}. If one of them is you, name the profile of that login: --profile NAME. If not, one of them adds you to the file.`,
    command('whoami'),
  );
}

interface Options {
  example?: boolean;
  allowOutside?: boolean;
  yes?: boolean;
}

/**
 * Looks for the files that the caller brings, and reads the caller's public key, before `cms init` changes anything. Another party may have
 * written the paths.
 * @throws CmsError that names all mistakes, such as a path that leads out of the folder of the file
 */
async function expectParts(context: Context, place: Place & Options, party: Party | null | undefined) {
  const mistakes: CmsError[] = [];
  const collected = (error: unknown): undefined => {
    if (!(error instanceof CmsError)) throw error;
    mistakes.push(error);
  };
  const parts: Part[] = [];
  for (const planned of party?.assets ?? []) {
    const file = planned.file === undefined ? undefined : await pathFrom(place, planned.file).catch(collected);
    const size = file === undefined ? 0 : await expectFile(file).catch(collected);
    parts.push({ planned, file, size: size ?? 0 }); // not used after a mistake
  }
  const keyFile = party?.key === undefined ? undefined : await pathFrom(place, party.key, { isKey: true }).catch(collected);
  const keyOf = async (file: string) => ({ ...(await readPublicKey(file)), planned: party?.key ?? '', file });
  const key = keyFile === undefined ? undefined : await keyOf(keyFile).catch(collected);
  const [first, ...others] = mistakes;
  const canMake = first?.next?.startsWith('cms key create ') === true && others.length === 0;
  if (canMake && keyFile !== undefined && (place.yes === true || context.terminal.ask)) {
    const file = keyFile.replace(/\.pub$/, '');
    if (place.yes !== true) await confirm(context, `You have no key. Make ${shellPath(file, place.home)}, which signs for you?`);
    const made = await makeKeyPair(file);
    context.note(`Made the private key ${shellPath(file, place.home)}, which only you can read. Keep it to yourself.\n`);
    return { parts, key: await keyOf(made) };
  }
  if (!first) return { parts, key };
  const message = mistakes.map((each) => each.message).join('\n');
  throw new UsageError(message, first.next, first);
}

/** A planned asset, with the path and the size of its file. Without a path, there is nothing to upload. */
interface Part {
  planned: PlannedAsset;
  file: string | undefined;
  size: number;
}

interface Place {
  /** The path of the file of `cms init`. */
  file: string;
  home: string;
  allowOutside?: boolean;
}

/**
 * Returns where a path in the file of `cms init` leads, after links. Paths are relative to the file.
 * @throws CmsError if the path leads out of the folder of the file or to something hidden, except to a public key in `~/.ssh`
 */
async function pathFrom({ file, home, allowOutside }: Place, path: string, { isKey = false } = {}): Promise<string> {
  const given = path.startsWith('~/') ? join(home, path.slice(2)) : resolve(dirname(file), path);
  const real = await realpath(given).catch(() => given);
  const isIn = (folder: string, found: string) => {
    const inside = relative(folder, found);
    return !isAbsolute(inside) && inside.split(sep).every((name) => !name.startsWith('.'));
  };
  const folders = [resolve(dirname(file)), await realpath(dirname(file))];
  const [isBeside, staysBeside] = [folders.some((each) => isIn(each, given)), folders.some((each) => isIn(each, real))];
  const keys = join(home, '.ssh');
  const isOwnKey = isKey && real.endsWith('.pub') && [keys, await realpath(keys).catch(() => keys)].includes(dirname(real));
  if (allowOutside === true || (isBeside && staysBeside) || isOwnKey) return real;
  const named = JSON.stringify(path);
  throw new UsageError(`${named} is outside the folder of ${file}, or hidden in it. Allow that with --allow-outside.`);
}

/** Says what is uploaded of a planned asset, and who reads it then. */
function uploadText({ planned, file, size }: Part, domain: string, home: string): string {
  const { type, source, name = '', content_access } = planned;
  if (file === undefined) {
    return `${type} ${source?.url ?? `${name}, which you send encrypted`}: every member of the domain ${domain} reads this`;
  }
  const readers = content_access === 'domain' ? `every member of the domain ${domain} may` : 'only you may';
  return `${type} ${shellPath(file, home)} (${sizeText(size)}): ${readers} read it`;
}

/**
 * Lists the files that `cms init` will upload from this machine, and asks for confirmation.
 * @throws CmsError if the answer is not yes, or nobody can answer
 */
async function confirmUploads(context: Context, uploads: string[], { yes }: Options): Promise<void> {
  const { terminal, isJson, typed, note } = context;
  if (uploads.length === 0) return;
  const list = `Uploads:\n${uploads.map((each) => `  ${printable(each)}\n`).join('')}`;
  if (yes === true) return note(list);
  if (terminal.ask === undefined || isJson) throw new UsageError(`Nothing was uploaded. ${list}`.trimEnd(), `${typed} --yes`);
  note(list);
  await confirm(context, 'Upload this?');
}

/** Asks whether `cms init` may take away protections of the caller. Without a terminal, and with `--yes`, it may not. */
async function mayLowerAll(
  { terminal: { ask }, isJson }: Context,
  lowers: readonly Lowering[],
  { file, yes }: Options & { file: string },
): Promise<boolean> {
  if (lowers.length === 0 || ask === undefined || isJson || yes === true) return false;
  const list = lowers.map(({ what, before, after }) => `  ${printable(`${what}: ${before}, then ${after}`)}\n`).join('');
  return /^y(es)?$/i.test((await ask(`${file} lowers what protects you:\n${list}Lower it? [y/N] `)).trim());
}

function formatSteps(id: string, steps: Step[]): string {
  const rows = table(steps, [
    { title: 'part', value: ({ subject }) => subject },
    { title: 'name', value: ({ name }) => name },
    { title: 'outcome', value: ({ outcome }) => outcome },
  ]);
  return `${rows}Computation ${id}\n`;
}

import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Context, WrapAction } from '../context/context.ts';
import { CmsError, exitCodes } from '../terminal/cms-error.ts';
import {
  type Collaboration,
  exampleCollaboration,
  parseCollaboration,
  readCollaboration,
} from '../collaboration/collaboration.ts';
import { otherAssets, type Step, syncAsset, syncComputation, syncKey } from '../collaboration/sync.ts';
import { nextRun, thenUse } from '../context/computation-reference.ts';
import { type GivenKey, privateKeyBeside, readPublicKey } from '../files/key-files.ts';
import { formatMissing, isNothing, missingItems } from '../context/missing-items.ts';
import { shellPath, shellWord } from '../terminal/shell-word.ts';
import { table } from '../terminal/table.ts';
import { localLogin } from '../profile/token.ts';
import { expectFile } from '../files/transfers.ts';

export function addInitCommand(program: Command, wrapAction: WrapAction): void {
  program
    .command('init')
    .description('set up your part of a collaboration from a YAML file; repeat it whenever the file has changed')
    .argument('[FILE]', 'the collaboration')
    .option('--example', 'print a file to start from')
    .action(
      wrapAction(async (context, file: string | undefined, { example }: { example?: boolean }) => {
        if (example === true) {
          printExample(context, file);
          return;
        }
        if (file === undefined) {
          throw new CmsError('Name the file of the collaboration.', {
            next: 'cms init --example > collaboration.yaml',
            exitCode: exitCodes.usage,
          });
        }
        const plan = await readCollaboration(file);
        const connection = await context.connect();
        const { client, user } = connection;
        const party = await partyOf(context, plan, { user, file });
        const pathOf = (path: string) => pathFrom(file, path, context.terminal.home);
        const parts = (party?.assets ?? []).map((planned) => ({ planned, file: pathOf(planned.file) }));
        const key = await expectParts(parts, party?.key === undefined ? undefined : pathOf(party.key));
        const { id, step } = await syncComputation(context, connection, plan.computation);
        await thenUse(context, connection, id);
        const steps: Step[] = [step];
        try {
          const synced: string[] = [];
          for (const part of parts) {
            const { step, asset } = await syncAsset(context, connection, id, part);
            steps.push(step);
            synced.push(asset);
          }
          steps.push(...(await otherAssets(context, connection, id, synced)));
          if (party?.key !== undefined && key) steps.push(await syncKey(connection, id, { planned: party.key, ...key }));
        } catch (error) {
          if (context.isJson) context.print({ computation: id, steps }, () => '');
          context.note(formatSteps(id, steps));
          throw error;
        }
        const { missing_items } = await client.dryRun({ id });
        context.print({ computation: id, steps, missing_items }, () => formatSteps(id, steps));
        if (context.isJson) return;
        if (isNothing(missing_items)) {
          context.note(`Ready to run.\n${await nextRun(context, connection, id)}`);
          return;
        }
        const { approval, assets } = await client.getComputation({ id });
        const privateKey = party?.key === undefined ? undefined : privateKeyBeside(pathOf(party.key));
        const ownKey = privateKey === undefined ? undefined : { user, file: shellPath(privateKey, context.terminal.home) };
        const items = missingItems(missing_items, { id, isSigned: approval === 'all_signed', assets, ownKey });
        context.note(`Missing before a run:\n${formatMissing(items, { user, command: context.command })}`);
      }),
    );
}

/** Prints a file to start from. @throws CmsError if a file is named, which a user may expect to be written */
function printExample({ print }: Context, file: string | undefined): void {
  if (file !== undefined) {
    throw new CmsError('--example prints to standard output, and takes no FILE.', {
      next: `cms init --example > ${shellWord(file)}`,
      exitCode: exitCodes.usage,
    });
  }
  print(parseCollaboration(exampleCollaboration, 'example'), () => exampleCollaboration);
}

/** Returns what the caller brings. @throws CmsError if the caller has no part in the collaboration */
async function partyOf(
  { target, profileName }: Context,
  { computation, parties }: Collaboration,
  { user, file }: { user: string; file: string },
) {
  if (Object.hasOwn(parties, user)) return parties[user];
  if (user === computation.owner) return undefined;
  const [first = computation.owner] = Object.keys(parties);
  const { isLocal, loginServer } = await target();
  throw new CmsError(`You are ${user}, but ${file} has the parties ${Object.keys(parties).join(', ')}.`, {
    next: isLocal ? localLogin(profileName, { user: first, loginServer }) : 'cms login',
    exitCode: exitCodes.usage,
  });
}

/**
 * Looks for the files that the caller brings, and reads the key, before anything is changed.
 * @throws CmsError that names all mistakes
 */
async function expectParts(parts: readonly { file: string }[], keyFile: string | undefined): Promise<GivenKey | undefined> {
  const mistakes: CmsError[] = [];
  const collected = (error: unknown): undefined => {
    if (!(error instanceof CmsError)) throw error;
    mistakes.push(error);
  };
  for (const { file } of parts) await expectFile(file).catch(collected);
  const key = keyFile === undefined ? undefined : await readPublicKey(keyFile).catch(collected);
  const [first] = mistakes;
  if (!first) return key;
  const message = mistakes.map((each) => each.message).join('\n');
  throw new CmsError(message, { next: first.next, exitCode: exitCodes.usage, cause: first });
}

/** Paths in the file are relative to the file. */
function pathFrom(file: string, path: string, home: string): string {
  return path.startsWith('~/') ? join(home, path.slice(2)) : resolve(dirname(file), path);
}

function formatSteps(id: string, steps: Step[]): string {
  const rows = table(steps, [
    { title: 'part', value: ({ subject }) => subject },
    { title: 'name', value: ({ name }) => name },
    { title: 'outcome', value: ({ outcome }) => outcome },
  ]);
  return `${rows}Computation ${id}\n`;
}

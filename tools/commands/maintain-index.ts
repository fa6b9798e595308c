import { existsSync } from 'node:fs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { documentClient, type Table } from '../../shared/table/table.ts';
import { rebuildNames } from '../../shared/find/index.ts';
import { rebuildTodo } from '../../shared/todo/index.ts';
import { listKeys, rowAt } from '../../shared/table/keys.ts';
import { openList, type RowList, rowLists, rowsOf } from '../../shared/table/row-lists.ts';
import { outputsOf } from '../domains/stage-data.ts';
import type { Stage } from '../../infra/stages/stage.ts';
import { stageNamed } from '../../infra/stages/stages.ts';
import { isMain, parseOptions, print, runCommand, UsageError } from '../../shared/command-line/arguments.ts';
import { lockDirectory } from '../../local/machine/data-directory.ts';
import { fileOfTable, startDynamoDb } from '../../local/dynamodb/dynamodb.ts';
import { localCredentials, local } from '../../local/machine/environment.ts';
import { allLists, listsOfDomain } from './stored-lists.ts';
import { systemClock, type Clock, timestampOf } from '../../shared/runtime/deadline.ts';

const usage = `Usage: npm run index -- check|rebuild --domain DOMAIN|--asset ID|--all --stage STAGE | --data DIR

check compares lists with their rows: every member and its state, and all counts.
rebuild builds these lists, the index of names and what waits for users from the rows, and then checks the lists. Repeat it if it was interrupted.

  --domain DOMAIN  the lists of computations, runs, assets and CVMs of this domain, and of the computations of each owner
  --asset ID       instead, the list of the computations that this asset is linked to
  --all            instead, every list of the table, which is read as a whole. Rebuilds only those that differ.
  --list NAME      only the one of these lists that has this name, as in computations#d1
  --from NUMBER    for check with --list: goes on after an interruption, at this number. Each 100,000 rows, check prints it.
  --stage STAGE    on AWS, with the credentials of the environment, while the service goes on
  --data DIR       in the directory of a service on this machine, which must not run. With DYNAMODB_ENDPOINT, no directory is needed.

The exit code is 0 if no list differs from its rows, 1 if one does or the command fails, 2 for a mistake on the command line.`;

/** The number of rows after which a check of a list prints where another check can go on. */
const rowsBetweenPlaces = 100_000;

/**
 * Runs `npm run index`, which compares lists with their rows or builds the lists anew. @throws UsageError for a mistake in the
 * arguments
 */
export async function indexCommand(args: string[], clock: Clock = systemClock): Promise<void> {
  const [action, ...rest] = args;
  const options = parseOptions(action?.startsWith('-') ? args : rest, {
    domain: { type: 'string' },
    asset: { type: 'string' },
    all: { type: 'boolean' },
    list: { type: 'string' },
    from: { type: 'string' },
    stage: { type: 'string' },
    data: { type: 'string' },
  });
  if (action !== 'check' && action !== 'rebuild') throw new UsageError('The first argument must be check or rebuild.');
  if (options.all && (options.domain ?? options.asset) !== undefined)
    throw new UsageError('--all takes neither --domain nor --asset.');
  const from = options.from === undefined ? 1 : Number(options.from);
  if (!Number.isSafeInteger(from) || from < 1) throw new UsageError('--from takes a number of the list, as in 100001.');
  if (options.from !== undefined && (action !== 'check' || options.list === undefined))
    throw new UsageError('--from is an option of check with --list only.');
  if (!options.all && (options.domain ?? options.asset) === undefined) throw new UsageError('--domain is required.');
  const open = await openTableOf(options);
  const table = { ...open.table, clock };
  try {
    const lists = await storedLists(table, options);
    let differing = 0;
    for (const list of lists) {
      if (action === 'rebuild') await rebuildNamesOf(table, list, clock);
      if (action === 'check' || options.all) {
        const differs = await printDifferences(table, list, { from, isQuiet: options.all === true });
        differing += Number(differs);
        if (differs && action === 'check') process.exitCode = 1;
        if (!differs || action === 'check') continue;
      }
      let entered = 0;
      await openList(table, list).rebuild(rowsOf(table, list), (rows) => (entered += rows));
      print(`${list.name}: rebuilt from ${entered} rows.`);
      if (await printDifferences(table, list, { from, isQuiet: false })) process.exitCode = 1;
    }
    const found = action === 'check' ? 'differ from their rows' : 'differed from their rows and were rebuilt';
    if (options.all) print(`${lists.length} lists checked: ${differing} ${found}.`);
  } finally {
    await open.close();
  }
}

if (isMain(import.meta)) await runCommand(usage, indexCommand);

interface Named {
  domain?: string | undefined;
  asset?: string | undefined;
  all?: boolean | undefined;
  list?: string | undefined;
}

/** Returns the lists that the options of `npm run index` name. @throws Error if the table has none of the lists */
async function storedLists(table: Table, { domain = '', asset, all, list }: Named): Promise<RowList[]> {
  const ofScope = all
    ? await allLists(table)
    : asset === undefined
      ? await listsOfDomain(table, domain)
      : [rowLists.linkedComputations(asset)];
  const named = ofScope.filter(({ name }) => list === undefined || name === list);
  if (named.length === 0) throw new Error(`${list} is none of the lists.`);
  const isStored = async (each: RowList) => {
    const { total } = await openList(table, each).page({ limit: 1, offset: 0 });
    return total > 0 || (await rowsOf(table, each)(1, 1)).length > 0;
  };
  const stored = await Promise.all(named.map(isStored));
  if (all || stored.some(Boolean)) return named;
  throw new Error(`The table has nothing in ${named.map(({ name }) => name).join(', ')}.`);
}

/** Compares a list with its rows, and prints the differences. @returns whether there is a difference */
async function printDifferences(
  table: Table,
  list: RowList,
  { from, isQuiet }: { from: number; isQuiet: boolean },
): Promise<boolean> {
  let [checked, since, differences] = [0, 0, 0];
  for await (const page of openList(table, list).check(rowsOf(table, list), from)) {
    for (const difference of page.differences) print(`${list.name}: ${difference}.`);
    checked += page.rows;
    since += page.rows;
    differences += page.differences.length;
    if (since < rowsBetweenPlaces || page.next === undefined) continue;
    print(`${checked} rows were checked. To go on from here after an interruption: --list ${list.name} --from ${page.next}`);
    since = 0;
  }
  if (!isQuiet || differences > 0) {
    print(`${list.name}: ${checked} rows checked${from > 1 ? ` from number ${from} on` : ''}, ${differences} differences.`);
  }
  return differences > 0;
}

/**
 * Builds anew the index by which the rows of a list are found by name. For a list of computations also builds anew what waits for users. Does
 * nothing for rows without names, and for the lists by owner, whose rows are in another list too.
 */
async function rebuildNamesOf(table: Table, { rows, owner }: RowList, clock: Clock): Promise<void> {
  const row = rowAt(listKeys.row(rows, 1));
  if (!row || row.kind === 'run' || owner !== undefined) return;
  const { domain, kind } = row;
  print(`${rows.pk}: the names of ${await rebuildNames(table, { domain, kind })} rows are indexed anew.`);
  if (row.kind !== 'computation') return;
  const { count, failures } = await rebuildTodo(table, row.domain, timestampOf(clock));
  print(`${rows.pk}: what waits in ${count} computations and assets is listed anew, ${failures} failed.`);
}

/**
 * Opens the table of a stage, or of a service on this machine in a data directory.
 * @throws UsageError without either, or if the directory has no table
 */
export async function openTableOf({ stage, data }: { stage?: string | undefined; data?: string | undefined }) {
  return stage === undefined ? await openHere(data) : await openStage(stageNamed(stage));
}

async function openStage(stage: Stage) {
  // A restored table may be named there before it is deployed.
  const name = stage.existing?.tableName ?? (await outputsOf(stage, 'state'))('TableName');
  const document = documentClient(new DynamoDBClient({ region: stage.region }));
  return { table: { name, document }, close: async () => document.destroy() };
}

async function openHere(dataDirectory: string | undefined) {
  const isNamed = Boolean(process.env['DYNAMODB_ENDPOINT']);
  if (dataDirectory === undefined && !isNamed) throw new UsageError('--stage or --data is required.');
  if (dataDirectory !== undefined && !isNamed && !existsSync(fileOfTable(dataDirectory)))
    throw new UsageError(`${dataDirectory} is no directory of a service.`);
  const unlock = dataDirectory === undefined || isNamed ? undefined : lockDirectory(dataDirectory);
  const { endpoint, stop } = await startDynamoDb({ dataDirectory });
  const document = documentClient(new DynamoDBClient({ endpoint, region: 'local', credentials: localCredentials }));
  const close = async () => {
    document.destroy();
    await stop();
    await unlock?.();
  };
  return { table: { name: local.tableName, document }, close };
}

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { systemClock, type Clock } from '../../shared/runtime/clock.ts';
import { allIndexes, isStored } from '../../shared/lists/all-indexes.ts';
import { indexedLists, listsOfIndex } from '../../shared/lists/indexed-list.ts';
import { readProgress, rebuildIndex } from '../../shared/lists/rebuild.ts';
import { documentClient } from '../../shared/table/open-table.ts';
import type { Table } from '../../shared/table/table.ts';
import { outputsOf } from '../domains/stage-resources.ts';
import { stageNamed } from '../../infra/stages/stage-named.ts';
import { isMain, parseOptions, runCommand } from '../../shared/command-line/arguments.ts';
import { UsageError } from '../../shared/command-line/usage-error.ts';
import { lockDirectory } from '../../local/machine/data-directory.ts';
import { startDynamoDb } from '../../local/dynamodb/dynamodb.ts';
import { localCredentials, local } from '../../local/machine/environment.ts';
import { Comparison, indexesFrom, placeOf, type Lists, type Place } from './compare-lists.ts';

const usage = `Usage: npm run index -- check|rebuild --domain DOMAIN|--asset ID|--all --stage STAGE | --data DIR

check compares the lists of a domain with their rows: every member, its state and its place in the filters, and all totals.
rebuild builds the index of these lists from the rows, and then checks it. Repeat it if it was interrupted: it continues where it
was. It does not read again what it had read before: pass --restart if rows have changed since without the service.

  --domain DOMAIN  the lists of computations, runs, assets and CVMs of this domain
  --asset ID       instead, the list of the computations that this asset is linked to
  --all            instead, every list of the table, which is read as a whole. Only lists that differ are printed and rebuilt.
  --from LIST[:NUMBER]  for check: goes on after an interruption, at this number of this list. Each 100,000 rows, check prints it.
  --restart        for rebuild: reads all rows, also if another rebuild was interrupted. A rebuild that is at work ends.
  --stage STAGE    on AWS, with the credentials of the environment, while the service goes on
  --data DIR       in the directory of a service on this machine, which must not run. With DYNAMODB_ENDPOINT, no directory is needed.

The exit code is 0 if no list differs from its rows, 1 if one does or the command fails, 2 for a mistake on the command line.`;

interface OpenTable {
  table: Table;
  close: () => Promise<void>;
}

/** `npm run index`. @throws UsageError for a mistake in the arguments */
export async function indexCommand(args: string[], clock: Clock = systemClock): Promise<void> {
  const [action, ...rest] = args;
  const options = parseOptions(action?.startsWith('-') ? args : rest, {
    domain: { type: 'string' },
    asset: { type: 'string' },
    all: { type: 'boolean' },
    from: { type: 'string' },
    restart: { type: 'boolean' },
    stage: { type: 'string' },
    data: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  });
  if (options.help) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  if (action !== 'check' && action !== 'rebuild') throw new UsageError('The first argument must be check or rebuild.');
  if (options.all && (options.domain ?? options.asset) !== undefined)
    throw new UsageError('--all takes neither --domain nor --asset.');
  const isAnew = options.restart === true;
  if (isAnew && action !== 'rebuild') throw new UsageError('--restart is an option of rebuild only.');
  if (options.from !== undefined && action !== 'check') throw new UsageError('--from is an option of check only.');
  const from = options.from === undefined ? undefined : placeOf(options.from);
  const named = options.all ? undefined : indexesOf(options);
  const open = options.stage === undefined ? await openHere(options.data) : await openStage(options.stage);
  const table = { ...open.table, clock };
  try {
    if (!named) await maintainAll(table, action, { isAnew, from });
    else if (action === 'check') await check(table, await storedOnes(table, named), from);
    else for (const lists of await storedOnes(table, named)) await rebuild(table, lists, isAnew);
  } finally {
    await open.close();
  }
}

if (isMain(import.meta)) await runCommand(usage, indexCommand);

/** Compares every list of the table with its rows. Prints or rebuilds those that differ. */
async function maintainAll(
  table: Table,
  action: 'check' | 'rebuild',
  { isAnew, from }: { isAnew: boolean; from: Place | undefined },
): Promise<void> {
  let [checked, differing] = [0, 0];
  const comparison = new Comparison(table, from);
  for (const lists of indexesFrom(await allIndexes(table), from)) {
    checked += 1;
    if (!(await comparison.doDiffer(lists))) continue;
    differing += 1;
    await (action === 'check' ? printDifferences(comparison, lists) : rebuild(table, lists, isAnew));
  }
  const found = action === 'check' ? 'differ from their rows' : 'differed from their rows and were rebuilt';
  print(`${checked} indexes checked: ${differing} ${found}.`);
}

function indexesOf({ domain, asset }: { domain?: string | undefined; asset?: string | undefined }): Lists[] {
  if (asset !== undefined) return [[indexedLists.linkedComputations(asset)]];
  if (domain === undefined) throw new UsageError('--domain is required.');
  return [indexedLists.computations(domain), indexedLists.assets(domain), indexedLists.cvms(domain)].flatMap(({ index }) => {
    const lists = listsOfIndex(index.scope);
    return lists ? [lists] : [];
  });
}

/** @throws Error if the table has none of the indexes */
async function storedOnes(table: Table, indexes: Lists[]): Promise<Lists[]> {
  const stored: Lists[] = [];
  for (const lists of indexes) if (await isStored(table, lists)) stored.push(lists);
  if (stored.length > 0) return stored;
  throw new Error(`The table has nothing in ${indexes.map(([{ index }]) => index.scope).join(', ')}.`);
}

async function check(table: Table, indexes: Lists[], from: Place | undefined): Promise<void> {
  const comparison = new Comparison(table, from);
  for (const lists of indexesFrom(indexes, from)) await printDifferences(comparison, lists);
}

async function printDifferences(comparison: Comparison, lists: Lists): Promise<void> {
  if (await comparison.print(lists)) process.exitCode = 1;
}

async function rebuild(table: Table, lists: Lists, isAnew: boolean): Promise<void> {
  const { scope } = lists[0].index;
  const progress = isAnew ? undefined : await readProgress(table, lists);
  if (progress) {
    const { begunAt, list, number } = progress;
    const from = list ? `after number ${number} of ${list.rows.pk}` : 'after the last row';
    print(`${scope}: continues the rebuild of ${new Date(begunAt).toISOString()}, ${from}. --restart would begin again.`);
  }
  let entered = 0;
  await rebuildIndex(table, lists, (rows) => (entered += rows), { isAnew });
  print(
    `${scope}: the index was rebuilt from ${entered} rows${progress ? ', and from those that the interrupted rebuild had read' : ''}.`,
  );
  await printDifferences(new Comparison(table), lists);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function openStage(name: string): Promise<OpenTable> {
  const stage = stageNamed(name);
  // A restored table may be named there before it is deployed.
  const tableName = stage.existing?.tableName ?? (await outputsOf(stage, 'state'))('TableName');
  return opened(new DynamoDBClient({ region: stage.region }), tableName);
}

async function openHere(dataDirectory: string | undefined): Promise<OpenTable> {
  const isNamed = Boolean(process.env['DYNAMODB_ENDPOINT']);
  if (dataDirectory === undefined && !isNamed) throw new UsageError('--stage or --data is required.');
  const unlock = dataDirectory === undefined || isNamed ? undefined : lockDirectory(dataDirectory);
  const engine = await startDynamoDb(dataDirectory === undefined ? {} : { dataDirectory });
  const client = new DynamoDBClient({ endpoint: engine.endpoint, region: 'local', credentials: localCredentials });
  const { table, close } = opened(client, local.tableName);
  const closeAll = async () => {
    await close();
    await engine.stop();
    await unlock?.();
  };
  return { table, close: closeAll };
}

function opened(client: DynamoDBClient, name: string): OpenTable {
  const document = documentClient(client);
  const close = async () => document.destroy();
  return { table: { name, document }, close };
}

import { basename } from 'node:path';
import {
  type Arguments,
  assetWithoutReading,
  pages,
  type Schemas,
  ServiceProblem,
  wholeAnswer,
} from 'computation-management-client';
import { manyComputations } from '../context/computation-reference.ts';
import type { Connection, Context } from '../context/context.ts';
import type { GivenKey } from '../files/key-files.ts';
import { hash, upload } from '../files/transfers.ts';
import { CmsError, exitCodes } from '../terminal/cms-error.ts';
import { detailsOf } from '../terminal/event-line.ts';
import type { Collaboration, PlannedAsset } from './collaboration.ts';

/** What `cms init` did about a part of a collaboration. */
export interface Step {
  subject: 'computation' | 'algorithm' | 'dataset' | 'key';
  name: string;
  /** Such as `created` or `unchanged`. */
  outcome: string;
}

type Body = Arguments<'updateComputation'>['body'];

/**
 * Creates the computation of a collaboration, or updates the fields that differ from the file. Only the owner can.
 * @returns its identifier and what was done
 */
export async function syncComputation(
  context: Pick<Context, 'command' | 'note' | 'typed'>,
  connection: Connection,
  planned: Collaboration['computation'],
): Promise<{ id: string; step: Step }> {
  const { client, user } = connection;
  const { id: _, owner, ...fields } = planned;
  const done = (outcome: string): Step => ({ subject: 'computation', name: planned.name, outcome });
  const found = await findComputation(context, connection, planned);
  if (!found) {
    if (user !== owner) {
      const name = JSON.stringify(planned.name);
      throw new CmsError(`${owner} has not created the computation ${name} yet, and must type this first.`, {
        next: context.typed,
        exitCode: exitCodes.notFound,
      });
    }
    const created = await client.createComputation({ body: fields });
    return { id: created.id, step: done('created') };
  }
  const { id } = found;
  const { data, etag } = wholeAnswer(await client.call('getComputation', { id }));
  const before: Body = data;
  const agent_config = { ...before.agent_config, ...fields.agent_config };
  const after = { ...before, ...fields, agent_config };
  const changed = Object.keys(fields).filter((name) => !isSame(after[name as keyof Body], before[name as keyof Body]));
  if (changed.length === 0) return { id, step: done('unchanged') };
  if (user !== owner) return { id, step: done(`differs from the file: ${changed.join(', ')}`) };
  await client.updateComputation({ id, body: after, ifMatch: etag });
  return { id, step: done(`changed: ${changed.join(', ')}`) };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

/** Sorts the fields of an object, whose order says nothing. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
}

type Row = Pick<Schemas['ComputationRow'], 'id'>;

/**
 * Finds the computation of a collaboration, by its identifier or by its owner and name.
 * @throws CmsError if there are several of the name, or none with the identifier
 */
export async function findComputation(
  { command, note }: Pick<Context, 'command' | 'note'>,
  { client, domain }: Connection,
  { id, name, owner }: Collaboration['computation'],
): Promise<Row | undefined> {
  if (id !== undefined) {
    const next = command('computation list');
    return await known(client.getComputation({ id, peek: 'true' }), { id, domain, next });
  }
  const found: Row[] = [];
  for await (const { items, offset, total } of pages(client, 'listComputations', { owner })) {
    found.push(...items.filter((each) => each.name === name));
    if (offset > 0 || total < manyComputations) continue;
    note(`Searching ${total} computations of ${owner} for ${JSON.stringify(name)}. To be faster, add its id to the file.\n`);
  }
  if (found.length < 2) return found[0];
  const list = found.map((each) => `  id: ${each.id}`).join('\n');
  throw new CmsError(`${owner} has several computations named ${JSON.stringify(name)}. Add one of these to the file:\n${list}`, {
    exitCode: exitCodes.usage,
  });
}

/** A file that names a computation never creates another one: each repeat would do so again. */
async function known<Found>(
  found: Promise<Found>,
  { id, domain, next }: { id: string; domain: string; next: string },
): Promise<Found> {
  try {
    return await found;
  } catch (error) {
    if (!(error instanceof ServiceProblem) || error.code !== 'not_found') throw error;
    throw new CmsError(
      `The domain ${domain} has no computation ${id}. Correct this id in the file. To create a computation, remove the id.`,
      { next, exitCode: exitCodes.notFound, cause: error },
    );
  }
}

type Asset = Schemas['Asset'];

/**
 * Uploads and links an asset of the caller, unless the computation has it. A file with another content replaces the asset
 * that the caller linked before.
 * @param file the path of the content
 */
export async function syncAsset(
  context: Context,
  connection: Connection,
  id: string,
  { planned, file }: { planned: PlannedAsset; file: string },
): Promise<{ step: Step; asset: string }> {
  const { client } = connection;
  const { file: _, type: asset_type, name: file_name = basename(file), ...others } = planned;
  const fields = { file_name, asset_type, ...others };
  const done = (asset: string, outcome: string) => ({ step: { subject: asset_type, name: file_name, outcome }, asset });
  const linked = await linkedAsset(connection, id, fields);
  if (linked?.before.checksum !== undefined && linked.before.checksum === (await hash(context, file))) {
    const { before, ifMatch } = linked;
    const changed = Object.entries({ file_name, ...others }).filter(([name, value]) => before[name as keyof Asset] !== value);
    if (changed.length === 0) return done(before.id, 'unchanged');
    const { asset: _content, ...kept } = before;
    await client.updateAsset({ id: before.id, body: { asset: { ...kept, ...fields } }, ifMatch });
    return done(before.id, `changed: ${changed.map(([name]) => name).join(', ')}`);
  }
  const asset = await upload(context, connection, { ...fields, file });
  if (linked) await client.unlinkAsset({ id: linked.before.id, computationID: id });
  await client.linkAsset({ id: asset.id, computationID: id });
  return done(asset.id, linked ? 'uploaded and linked; replaces the previous one' : 'uploaded and linked');
}

/** Finds the linked asset of the caller that this one replaces: the algorithm, or the dataset of this name. */
async function linkedAsset(
  connection: Connection,
  id: string,
  { file_name, asset_type }: Pick<Asset, 'file_name' | 'asset_type'>,
): Promise<{ before: Asset; ifMatch: string | undefined } | undefined> {
  const { client, user } = connection;
  const { assets } = await client.getComputation({ id });
  const found = assets.find(
    (each) => each.asset_type === asset_type && (asset_type === 'algorithm' || each.file_name === file_name),
  );
  if (!found) return undefined;
  const { isWhole, asset, etag } = await assetWithoutReading(client, { id: found.id, user });
  return isWhole && asset.created_by === user ? { before: asset, ifMatch: etag } : undefined;
}

/**
 * Names the linked assets of the caller that the file does not name: a run uses them.
 * @param synced the identifiers of those that it names
 */
export async function otherAssets(
  { command }: Pick<Context, 'command'>,
  connection: Connection,
  id: string,
  synced: readonly string[],
): Promise<Step[]> {
  const { client, user } = connection;
  const { assets } = await client.getComputation({ id });
  const steps: Step[] = [];
  for (const { id: asset, asset_type, file_name } of assets.filter((each) => !synced.includes(each.id))) {
    const { created_by } = (await assetWithoutReading(client, { id: asset, user })).asset;
    if (created_by !== user) continue;
    const outcome = `linked, but not in the file. To unlink it: ${command(`asset unlink ${asset} ${id}`)}`;
    steps.push({ subject: asset_type, name: file_name, outcome });
  }
  return steps;
}

/** Uploads the public key of the caller, unless it is the one that the computation has. */
export async function syncKey(
  { client, user }: Connection,
  id: string,
  { planned, key, fingerprint }: GivenKey & { planned: string },
): Promise<Step> {
  const done = (outcome: string): Step => ({ subject: 'key', name: planned, outcome });
  const { events } = await client.listEvents({ id, event_type: 'key_uploaded', originator: user, limit: 1 });
  const [latest] = events;
  if (latest && detailsOf(latest)['fingerprint'] === fingerprint) return done('unchanged');
  await client.uploadKey({ id, body: { key } });
  return done(latest ? 'uploaded; replaces the previous key' : 'uploaded');
}

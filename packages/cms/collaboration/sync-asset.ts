import { basename } from 'node:path';
import { assetWithoutReading, type Schemas } from 'computation-management-client';
import type { Connection } from '../connection.ts';
import type { Context } from '../context.ts';
import { hash, upload } from '../transfers.ts';
import type { PlannedAsset } from './collaboration.ts';
import type { Step } from './step.ts';

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

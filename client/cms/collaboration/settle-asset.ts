import { basename } from 'node:path';
import type { Schemas } from '../../api-types.ts';
import { hashFile } from '../../node/hash-file.ts';
import { assetWithoutContent, type AssetWithoutContent } from '../asset-without-content.ts';
import type { Connection, Context } from '../context.ts';
import { expectFile, upload } from '../transfers.ts';
import type { PlannedAsset } from './collaboration.ts';
import type { Step } from './step.ts';

type Asset = Schemas['Asset'];

/**
 * Uploads and links an asset of the caller, unless the computation has it. A file with another content takes the place of the
 * asset that the caller linked before.
 * @param file the path of the content
 */
export async function settleAsset(
  context: Context,
  connection: Connection,
  id: string,
  { planned, file }: { planned: PlannedAsset; file: string },
): Promise<Step> {
  const { client } = connection;
  const { file: _, type: asset_type, name: file_name = basename(file), ...others } = planned;
  const fields = { file_name, asset_type, ...others };
  const done = (outcome: string): Step => ({ subject: asset_type, name: file_name, outcome });
  await expectFile(file);
  const linked = await linkedAsset(connection, id, fields);
  if (linked && linked.checksum === (await hashFile(file))) {
    const changed = Object.entries(others).filter(([name, value]) => linked[name as keyof Asset] !== value);
    if (changed.length === 0) return done('unchanged');
    const { asset: _content, ...kept } = linked;
    await client.updateAsset({ id: linked.id, body: { asset: { ...kept, ...fields } } });
    return done(`changed: ${changed.map(([name]) => name).join(', ')}`);
  }
  const asset = await upload(context, connection, { ...fields, file });
  if (linked) await client.unlinkAsset({ id: linked.id, computationID: id });
  await client.linkAsset({ id: asset.id, computationID: id });
  return done(linked ? 'uploaded and linked in place of the one before' : 'uploaded and linked');
}

/** Finds the linked asset of the caller that has the place of this one: the algorithm, or the dataset of this name. */
async function linkedAsset(
  connection: Connection,
  id: string,
  { file_name, asset_type }: Pick<Asset, 'file_name' | 'asset_type'>,
): Promise<AssetWithoutContent | undefined> {
  const { assets = [] } = await connection.client.getComputation({ id });
  const found = assets.find(
    (each) => each.asset_type === asset_type && (asset_type === 'algorithm' || each.file_name === file_name),
  );
  if (!found) return undefined;
  const asset = await assetWithoutContent(connection, found.id);
  return asset.created_by === connection.user ? asset : undefined;
}

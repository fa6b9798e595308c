import { lstat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { assetWithoutReading, type Item, type KnownAsset, sizeText } from 'computation-management-client';
import { fileName } from 'computation-management-formats/fields';
import { agoText, fetchLines, userText } from 'computation-management-words';
import { printable } from 'computation-management-formats/printable';
import * as v from 'valibot';
import { computationId, named } from '../context/computation-reference.ts';
import { confirm, type Context } from '../context/context.ts';
import { identified } from '../context/find-by-name.ts';
import { download } from '../files/transfers.ts';
import { type CmsError, UsageError } from '../terminal/cms-error.ts';
import { type Column, details, statusColour } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { addUploadCommand, addAddCommand, addDeclareCommand } from './asset-upload.ts';
import { listOf, type ListOptions } from './list.ts';
import { type CmsCommand, assetTypeOption, given } from './options.ts';

export function addAssetCommands(program: CmsCommand): void {
  const asset = program.subcommand('asset', 'upload algorithms and datasets, and link them to computations');

  addUploadCommand(asset);
  addAddCommand(asset);
  addDeclareCommand(asset);

  asset
    .subcommand('list', 'list assets, newest first')
    .listOptions()
    .addOption(assetTypeOption())
    .does(async (context, options: ListOptions & { type?: string }) => {
      const filter = given({ asset_type: options.type });
      const columns: Column<Item<'listAssets'>>[] = [
        { title: 'id', value: ({ id }) => id },
        { title: 'file', value: ({ file_name }) => file_name, cuts: true },
        { title: 'type', value: ({ asset_type }) => asset_type },
        { title: 'size', value: ({ size }) => sizeText(size) },
        { title: 'state', value: ({ state }) => state, colour: statusColour },
        { title: 'creator', value: ({ created_by }) => userText(created_by) },
        { title: 'changed', value: ({ updated_at }) => agoText(updated_at, context.terminal.now()) },
      ];
      await listOf(context, 'listAssets', { filter, options, columns, first: 'asset upload FILE --type dataset' });
    });

  asset
    .subcommand('show', 'show an asset, without its content')
    .argument('<ASSET>', 'its file name or identifier')
    .does(async (context, reference: string) => {
      const connection = await context.connect();
      const { client, user } = connection;
      const id = await identified(context, connection, 'asset', reference);
      const { asset: found } = await assetWithoutReading(client, { id, user });
      const { asset: _content, download: _download, ...shown } = found;
      context.print(shown, () => assetDetails(shown, context.terminal));
    });

  asset
    .subcommand('download', 'download the content of an asset and check its hash; run it again if it was interrupted')
    .argument('<ASSET>', 'its file name or identifier')
    .option('--output <FILE>', 'the file to write or replace (default: the name of the asset, if no file has that name yet)')
    .does(async (context, reference: string, options: { output?: string }) => {
      const connection = await context.connect();
      const { client, user } = connection;
      const id = await identified(context, connection, 'asset', reference);
      const file = options.output ?? (await newFile(context, (await assetWithoutReading(client, { id, user })).asset));
      const mustBeNew = options.output === undefined;
      const { size, checksum } = await download(context, connection, { id, file, mustBeNew }).catch((error: unknown) => {
        if (hasCode(error, 'EEXIST')) throw notNew(context, `There is a file ${file} here already.`); // made since it was looked for
        if (hasCode(error, 'EISDIR'))
          throw noFile(context, { id, message: `${JSON.stringify(file)} is not the name of a file.` });
        if (!hasCode(error, 'ENOENT') && !hasCode(error, 'ENOTDIR')) throw error;
        throw noFile(context, { id, message: `There is no directory ${JSON.stringify(dirname(file))}.` });
      });
      context.print(
        { id, file, size, checksum },
        () => `Saved ${printable(file)} (${sizeText(size)})\n  SHA3-256 ${printable(checksum ?? '')}\n`,
      );
    });

  for (const name of ['link', 'unlink'] as const) addLinkCommand(asset, name);
  addDeleteCommand(asset);
}

/**
 * Returns the name of an asset as the name of a file to download to. The creator of the asset chose the name, perhaps as that of another
 * file that is here, or of one that a shell reads.
 * @throws CmsError if a file of the name exists already, or the file would be a hidden one
 */
async function newFile(context: Context, { file_name }: KnownAsset['asset']): Promise<string> {
  const file = basename(file_name);
  if (!v.is(fileName, file_name)) throw notNew(context, 'The name of the asset is not the name of a file.');
  const found = await lstat(file).catch(() => undefined);
  if (!found && !file.startsWith('.')) return file;
  throw notNew(context, found ? `There is a file ${file} here already.` : `${file} would be a hidden file.`);
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function notNew({ typed }: Context, message: string): CmsError {
  return new UsageError(message, `${typed} --output FILE`);
}

function noFile({ command }: Context, { id, message }: { id: string; message: string }): CmsError {
  return new UsageError(message, command(`asset download ${id} --output FILE`));
}

function addLinkCommand(asset: CmsCommand, name: 'link' | 'unlink'): void {
  const words = name === 'link' ? ['Linked', 'to'] : ['Unlinked', 'from'];
  asset
    .subcommand(name, `${name} an asset ${words[1]} a computation`)
    .argument('<ASSET>', 'its file name or identifier')
    .argument('[COMPUTATION]', 'its identifier or name')
    .does(async (context, asset: string, reference: string | undefined) => {
      const connection = await context.connect();
      const id = await identified(context, connection, 'asset', asset);
      const computationID = await computationId(context, connection, reference);
      const answer = await connection.client[`${name}Asset`]({ id, computationID });
      context.print(answer, () => `${words.join(` ${id} `)} ${computationID}.\n`);
      context.note(`Next: ${context.command(`check${named(context, connection, computationID)}`)}\n`);
    });
}

function addDeleteCommand(asset: CmsCommand): void {
  asset
    .subcommand('delete', 'delete an asset with its content and links')
    .argument('<ASSET>', 'its file name or identifier')
    .option('--yes', 'do not ask')
    .does(async (context, reference: string, options: { yes?: boolean }) => {
      const connection = await context.connect();
      const { client, user } = connection;
      const id = await identified(context, connection, 'asset', reference);
      const { asset: found, etag } = await assetWithoutReading(client, { id, user });
      const name = printable(found.file_name);
      if (options.yes !== true) await confirm(context, `Delete the asset ${JSON.stringify(name)} (${id}) and its content?`);
      await client.deleteAsset({ id, ifMatch: etag });
      context.print({ deleted: id }, () => `Deleted ${name} (${id}).\n`);
    });
}

/** Formats the fields of an asset, without its content, as lines. */
function assetDetails(asset: KnownAsset['asset'], { now }: Pick<Terminal, 'now'>): string {
  const ago = (timestamp: string) => agoText(timestamp, now());
  return details([
    ['File', asset.file_name],
    ['Identifier', asset.id],
    ['Description', asset.description],
    ['Type', [asset.asset_type, asset.mime_type].filter((text) => text !== '').join(', ')],
    ['State', asset.state],
    ['Size', sizeText(asset.size)],
    ['Source', fetchLines(asset)],
    ['SHA3-256', asset.checksum],
    ['Use', asset.use],
    [
      'Content',
      asset.content_access === 'domain'
        ? 'every member of the domain may download it'
        : `only ${userText(asset.created_by)} gets it`,
    ],
    ['Creator', userText(asset.created_by)],
    ['Created', ago(asset.created_at)],
    ['Changed', ago(asset.updated_at)],
    ['Read by', asset.content_reads?.map(({ user, read_at }) => `${userText(user)}, ${ago(read_at)}`)],
  ]);
}

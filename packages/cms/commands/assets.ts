import { lstat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { assetWithoutReading, type Item, type KnownAsset, page, sizeText } from 'computation-management-client';
import { fileName } from 'computation-management-formats/fields';
import { assetTypes } from 'computation-management-formats/vocabulary';
import { agoText, fetchLines, userText } from 'computation-management-words';
import { printable } from 'computation-management-formats/printable';
import { quotedName } from 'computation-management-formats/quoted-name';
import * as v from 'valibot';
import { computationId, named } from '../context/computation-reference.ts';
import { confirm } from '../context/context.ts';
import { identified } from '../context/find-by-name.ts';
import { download } from '../files/transfers.ts';
import { codeOf, UsageError } from '../terminal/cms-error.ts';
import { type Column, details, statusColour } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { addUploadCommand, addAddCommand, addDeclareCommand } from './asset-upload.ts';
import { addAssetKeyCommands } from './asset-key.ts';
import { listOf, type ListOptions } from './list.ts';
import { type CmsCommand, given } from './options.ts';

export function addAssetCommands(program: CmsCommand): void {
  const asset = program.subcommand('asset', 'upload algorithms and datasets, and link them to computations');

  addUploadCommand(asset);
  addAddCommand(asset);
  addDeclareCommand(asset);
  addAssetKeyCommands(asset);

  asset
    .subcommand('list', 'list assets, newest first')
    .listOptions()
    .choice('--type <TYPE>', 'the type of the asset', assetTypes)
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

  asset.subcommand('show', 'show an asset, without its content').onAsset(async (context, id) => {
    const { client, user } = context;
    const { asset: found } = await assetWithoutReading(client, { id, user });
    const { asset: _content, download: _download, ...shown } = found;
    context.print(shown, () => assetDetails(shown, context.terminal));
  });

  asset
    .subcommand('download', 'download the content of an asset and check its hash; run it again if it was interrupted')
    .option('--output <FILE>', 'the file to write or replace (default: the name of the asset, if no file has that name yet)')
    .onAsset(async (context, id, { output }: { output?: string }) => {
      const { client, user } = context;
      const next = context.command(`asset download ${id} --output FILE`);
      const file = output ?? (await newFile((await assetWithoutReading(client, { id, user })).asset, next));
      const mustBeNew = output === undefined;
      const { size, checksum } = await download(context, { id, file, mustBeNew }).catch((error: unknown) => {
        const why = whyNotWritten.get(codeOf(error));
        throw why === undefined ? error : new UsageError(why(file), next);
      });
      const saved = `Saved ${printable(file)} (${sizeText(size)})\n  SHA3-256 ${printable(checksum ?? '')}\n`;
      context.print({ id, file, size, checksum }, () => saved);
    });

  for (const name of ['link', 'unlink'] as const) addLinkCommand(asset, name);
  addDeleteCommand(asset);
}

/**
 * Returns the name of an asset as the name of a file to download to. The creator of the asset chose the name, perhaps as that of another
 * file that is here, or of one that a shell reads.
 * @param next the command that downloads to another file
 * @throws CmsError if a file of the name exists already, or the file would be a hidden one
 */
async function newFile({ file_name }: KnownAsset['asset'], next: string): Promise<string> {
  const file = basename(file_name);
  if (!v.is(fileName, file_name)) throw new UsageError('The name of the asset is not the name of a file.', next);
  const found = await lstat(file).catch(() => undefined);
  if (!found && !file.startsWith('.')) return file;
  throw new UsageError(found ? isThere(file) : `${file} would be a hidden file.`, next);
}

const isThere = (file: string) => `There is a file ${file} here already.`;
const noDirectory = (file: string) => `There is no directory ${JSON.stringify(dirname(file))}.`;

/** The sentences about a file that could not be written, by the code of the error. */
const whyNotWritten = new Map([
  ['EEXIST', isThere], // made since it was looked for
  ['EISDIR', (file: string) => `${JSON.stringify(file)} is not the name of a file.`],
  ['ENOENT', noDirectory],
  ['ENOTDIR', noDirectory],
]);

function addLinkCommand(asset: CmsCommand, name: 'link' | 'unlink'): void {
  const words = name === 'link' ? ['Linked', 'to'] : ['Unlinked', 'from'];
  asset
    .subcommand(name, `${name} an asset ${words[1]} a computation`)
    .argument('<ASSET>', 'its file name or identifier')
    .argument('[COMPUTATION]', 'its identifier or name')
    .connected(async (context, asset: string, reference: string | undefined) => {
      const id = await identified(context, 'asset', asset);
      const computationID = await computationId(context, reference);
      const answer = await context.client[`${name}Asset`]({ id, computationID });
      context.print(answer, () => `${words.join(` ${id} `)} ${computationID}.\n`);
      context.note(`Next: ${context.command(`check${named(context, computationID)}`)}\n`);
    });
}

function addDeleteCommand(asset: CmsCommand): void {
  asset
    .subcommand('delete', 'delete an asset with its content and links')
    .option('--yes', 'do not ask')
    .onAsset(async (context, id, options: { yes?: boolean }) => {
      const { client, user } = context;
      const { asset: found, etag } = await assetWithoutReading(client, { id, user });
      const name = printable(found.file_name);
      if (options.yes !== true) {
        const { items, total } = await page(client, 'listLinkedComputations', { id });
        const users = items.map(({ id, name }) => `\n  ${quotedName(name)} (${id})`).join('');
        context.note(`Computations that lose it: ${total}.${users}\n`);
        await confirm(context, `Delete the asset ${JSON.stringify(name)} (${id}) and its content?`);
      }
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

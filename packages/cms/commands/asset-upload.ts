import { basename } from 'node:path';
import { Option } from 'commander';
import { type Schemas, sizeText } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { algorithmTypes, sourceTypeOf } from 'computation-management-formats/source';
import { fetchLines } from 'computation-management-words';
import type { Connection, Context } from '../context/context.ts';
import { UsageError } from '../terminal/cms-error.ts';
import { defaultComputation } from '../context/computation-reference.ts';
import { identified } from '../context/find-by-name.ts';
import { expectFile, hash, upload, uploadInto, usualUse } from '../files/transfers.ts';
import { type CmsCommand, chosenComputation, chosenType, collect, given, useNote } from './options.ts';

type Fields = Schemas['AssetInputFields'];

interface Options extends Pick<Fields, 'description' | 'use'> {
  type?: Fields['asset_type'];
  name?: string;
  mimeType?: string;
  contentAccess?: Fields['content_access'];
  computation?: string;
  asset?: string;
}

/**
 * The options of `cms asset upload` that describe a new asset. With `--asset` they are refused, because the asset to fill has these fields
 * already.
 */
const fields = ['type', 'name', 'description', 'mimeType', 'use', 'contentAccess'];

export function addUploadCommand(asset: CmsCommand): void {
  const access = new Option('--content-access <WHO>', 'who gets the content: only you, or every member of the domain');
  const filled = new Option('--asset <ASSET>', 'the asset to fill: one of yours that has no content yet');
  asset
    .subcommand('upload', 'upload files as assets; run it again if it was interrupted')
    .argument('<FILE...>', 'the files')
    .assetOptions()
    .option('--mime-type <TYPE>', 'such as text/csv')
    .addOption(access.choices(['creator', 'domain']))
    .addOption(filled.conflicts(fields))
    .does(async (context, files: string[], options: Options) => {
      for (const option of ['name', 'asset'] as const) {
        if (options[option] !== undefined && files.length > 1) {
          throw new UsageError(`--${option} goes with one file.`, context.help);
        }
      }
      if (options.asset === undefined) {
        if (options.type === undefined) for (const file of files) await expectFile(file); // before it is asked for
        options.type = await chosenType(context, options.type, files[0] ?? '');
      }
      const connection = await context.connect();
      const id = await chosenComputation(context, connection, options.computation);
      const uploaded: Uploaded[] = [];
      try {
        for (const file of files) {
          const found = await uploadOne(context, connection, file, options);
          const { asset: _content, upload: _upload, download: _download, ...shown } = found;
          uploaded.push(shown);
          if (!context.isJson) context.terminal.out(uploadedText(file, shown) + useNote(options.use ?? options.asset, shown.use));
          if (id !== undefined) await connection.client.linkAsset({ id: found.id, computationID: id });
        }
      } finally {
        // Also before an error: these are uploaded.
        if (context.isJson && uploaded.length > 0) context.print({ items: uploaded }, () => '');
      }
      const links = () => uploaded.map((each) => `asset link ${each.id}${chosen(context, connection)}`);
      const next = options.asset !== undefined ? ['todo'] : id === undefined ? links() : [];
      if (next.length > 0) context.note(`Next: ${next.map((each) => context.command(each)).join('\n      ')}\n`);
    });
}

/** The fields of an asset without its content. */
type Uploaded = Omit<Schemas['Asset'], 'asset' | 'upload' | 'download'>;

function uploadedText(file: string, { id, size, checksum }: Uploaded): string {
  return `Uploaded ${printable(file)} (${sizeText(size)}) as ${id}\n  SHA3-256 ${printable(checksum ?? '')}\n`;
}

async function uploadOne(context: Context, connection: Connection, file: string, options: Options): Promise<Schemas['Asset']> {
  const { name, description, mimeType, use, contentAccess, asset } = options;
  if (asset !== undefined) {
    return await uploadInto(context, connection, await identified(context, connection, 'asset', asset), file);
  }
  const asset_type = await chosenType(context, options.type, file);
  return await upload(context, connection, {
    file,
    asset_type,
    use: use ?? usualUse(asset_type),
    ...given({ file_name: name, description, mime_type: mimeType, content_access: contentAccess }),
  });
}

/**
 * Returns the argument with which a command to type next names the computation: none if there is a default computation, otherwise the
 * placeholder COMPUTATION.
 */
function chosen(context: Context, connection: Connection): string {
  return defaultComputation(context, connection) === undefined ? ' COMPUTATION' : '';
}

interface OptionsOfNew extends Pick<Fields, 'description' | 'use' | 'decompress'> {
  type?: Fields['asset_type'];
  checksum: string;
  computation?: string;
  name?: string;
  kbs?: string;
  kbsPath?: string;
  algoType?: NonNullable<Fields['algo_type']>;
  algoArg?: string[];
}

export function addAddCommand(asset: CmsCommand): void {
  asset
    .subcommand('add', 'add an asset that the agent of the CVM fetches: nobody uploads or sends it')
    .argument('<URL>', 'its address, which everyone in the domain reads: docker, oci, gs, https or http')
    .requiredOption('--checksum <HASH>', 'the SHA3-256 of the file, in hex; of an encrypted one, that of the plain file')
    .assetOptions('the last part of the address')
    .option('--kbs <URL>', 'the key broker service of an encrypted file')
    .option('--kbs-path <PATH>', 'the path of the key there, such as default/key/penguins')
    .option('--decompress', 'the agent unpacks the dataset, a ZIP file')
    .addOption(new Option('--algo-type <TYPE>', 'how the agent runs the algorithm').choices(algorithmTypes))
    .option('--algo-arg <ARGUMENT>', 'an argument of the algorithm; repeat it for several', collect)
    .does(async (context, url: string, options: OptionsOfNew) => {
      const { checksum, name = basename(url), description, use, kbs, kbsPath, decompress, algoType, algoArg } = options;
      const type = await chosenType(context, options.type, name);
      const source = sourceTypeOf(url) ?? 'https'; // the service refuses other addresses, and says why
      const connection = await context.connect();
      const id = await chosenComputation(context, connection, options.computation);
      const broker = kbs === undefined ? undefined : { url: kbs };
      const fields = given({
        description,
        use: use ?? usualUse(type),
        kbs: broker,
        decompress,
        algo_type: algoType,
        algo_args: algoArg,
      });
      const from = { type: source, url, ...given({ kbs_resource_path: kbsPath }) };
      const body = { asset: { file_name: name, asset_type: type, checksum, source: from, ...fields } };
      const made = await connection.client.createAsset({ body });
      if (id !== undefined) await connection.client.linkAsset({ id: made.id, computationID: id });
      const lines = fetchLines(made).map((line) => `  ${printable(line)}\n`);
      context.print(made, () => `Added ${printable(made.file_name)} as ${made.id}\n${lines.join('')}${useNote(use, made.use)}`);
      if (id === undefined) context.note(`Next: ${context.command(`asset link ${made.id} COMPUTATION`)}\n`);
    });
}

export function addDeclareCommand(asset: CmsCommand): void {
  asset
    .subcommand('declare', 'declare a file by its hash, which is computed here: nothing of it is uploaded')
    .argument('<FILE>', 'the file that you will send to the CVM')
    .assetOptions()
    .does(async (context, file: string, options: Omit<OptionsOfNew, 'checksum'>) => {
      const { name = basename(file), description, use } = options;
      await expectFile(file);
      const type = await chosenType(context, options.type, file);
      const connection = await context.connect();
      const id = await chosenComputation(context, connection, options.computation);
      const checksum = await hash(context, file);
      const body = {
        asset: { file_name: name, asset_type: type, checksum, ...given({ description, use: use ?? usualUse(type) }) },
      };
      const { upload: _, ...made } = await connection.client.createAsset({ body });
      if (id !== undefined) await connection.client.linkAsset({ id: made.id, computationID: id });
      context.print(made, () => `Declared ${printable(name)} as ${made.id}\n  SHA3-256 ${checksum}\n${useNote(use, made.use)}`);
      context.note(
        `Nothing of it was uploaded. A run starts once the asset has content: upload a sample, which may be any file.\nNext: ${context.command(`asset upload SAMPLE --asset ${made.id}`)}\n`,
      );
    });
}

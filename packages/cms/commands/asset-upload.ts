import { type Command, Option } from 'commander';
import { type Schemas, sizeText } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import type { Connection, Context, WrapAction } from '../context/context.ts';
import { UsageError } from '../terminal/cms-error.ts';
import { defaultComputation } from '../context/computation-reference.ts';
import { identified } from '../context/find-by-name.ts';
import { upload, uploadInto } from '../files/transfers.ts';
import { addAssetOptions, chosenComputation, chosenType, given } from './options.ts';

type Fields = Schemas['AssetInputFields'];

interface Options extends Pick<Fields, 'description' | 'use'> {
  type?: Fields['asset_type'];
  name?: string;
  mimeType?: string;
  contentAccess?: Fields['content_access'];
  computation?: string;
  asset?: string;
}

/** An asset that is filled has them already. */
const fields = ['type', 'name', 'description', 'mimeType', 'use', 'contentAccess'];

export function addUploadCommand(asset: Command, wrapAction: WrapAction): void {
  const command = asset
    .command('upload')
    .description('upload files as assets; run it again if it was interrupted')
    .argument('<FILE...>', 'the files');
  const access = new Option('--content-access <WHO>', 'who gets the content: only you, or every member of the domain');
  const filled = new Option('--asset <ASSET>', 'the asset to fill: one of yours that has no content yet');
  addAssetOptions(command)
    .option('--mime-type <TYPE>', 'such as text/csv')
    .addOption(access.choices(['creator', 'domain']))
    .addOption(filled.conflicts(fields))
    .action(
      wrapAction(async (context, files: string[], options: Options) => {
        for (const option of ['name', 'asset'] as const) {
          if (options[option] !== undefined && files.length > 1) {
            throw new UsageError(`--${option} goes with one file.`, context.help);
          }
        }
        if (options.asset === undefined) options.type = await chosenType(context, options.type);
        const connection = await context.connect();
        const id = await chosenComputation(context, connection, options.computation);
        const uploaded: Uploaded[] = [];
        try {
          for (const file of files) {
            const found = await uploadOne(context, connection, file, options);
            const { asset: _content, upload: _upload, download: _download, ...shown } = found;
            uploaded.push(shown);
            if (!context.isJson) context.terminal.out(uploadedText(file, shown));
            if (id !== undefined) await connection.client.linkAsset({ id: found.id, computationID: id });
          }
        } finally {
          // Also before an error: these are uploaded.
          if (context.isJson && uploaded.length > 0) context.print({ items: uploaded }, () => '');
        }
        const links = () => uploaded.map((each) => `asset link ${each.id}${chosen(context, connection)}`);
        const next = options.asset !== undefined ? ['todo'] : id === undefined ? links() : [];
        if (next.length > 0) context.note(`Next: ${next.map((each) => context.command(each)).join('\n      ')}\n`);
      }),
    );
}

/** An asset without its content. */
type Uploaded = Omit<Schemas['Asset'], 'asset' | 'upload' | 'download'>;

function uploadedText(file: string, { id, size, checksum }: Uploaded): string {
  return `Uploaded ${printable(file)} (${sizeText(size)}) as ${id}\n  SHA3-256 ${printable(checksum ?? '')}\n`;
}

async function uploadOne(context: Context, connection: Connection, file: string, options: Options): Promise<Schemas['Asset']> {
  const { name, description, mimeType, use, contentAccess, asset } = options;
  if (asset !== undefined) {
    return await uploadInto(context, connection, await identified(context, connection, 'asset', asset), file);
  }
  return await upload(context, connection, {
    file,
    asset_type: await chosenType(context, options.type),
    ...given({ file_name: name, description, mime_type: mimeType, use, content_access: contentAccess }),
  });
}

/** Returns how a command names the default computation: not at all. Without one, a placeholder. */
function chosen(context: Context, connection: Connection): string {
  return defaultComputation(context, connection) === undefined ? ' COMPUTATION' : '';
}

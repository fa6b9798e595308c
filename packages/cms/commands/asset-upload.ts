import { basename } from 'node:path';
import { type Schemas, sizeText } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { algorithmTypes, sourceTypeOf } from 'computation-management-formats/source';
import { fetchLines, shellWord } from 'computation-management-words';
import type { Context, Session } from '../context/context.ts';
import { UsageError } from '../terminal/cms-error.ts';
import { defaultComputation, isOf } from '../context/computation-reference.ts';
import { identified } from '../context/find-by-name.ts';
import { expectFile, measure, upload, uploadInto } from '../files/transfers.ts';
import { addEncrypted, type AddEncryptedOptions, addEncryptedOptions } from './asset-key.ts';
import { type AssetOptions, type CmsCommand, chosenComputation, chosenType, fieldsOf, given } from './options.ts';

type Fields = Schemas['AssetInputFields'];

interface Options extends AssetOptions {
  mimeType?: string;
  contentAccess?: Fields['content_access'];
  asset?: string;
}

/**
 * The options of `cms asset upload` that describe a new asset. With `--asset` they are refused, because the asset to fill has these fields
 * already.
 */
const fields = ['type', 'name', 'description', 'mimeType', 'use', 'contentAccess'];

export function addUploadCommand(asset: CmsCommand): void {
  asset
    .subcommand('upload', 'upload files as assets; run it again if it was interrupted')
    .argument('<FILE...>', 'the files')
    .assetOptions()
    .option('--mime-type <TYPE>', 'such as text/csv')
    .choice('--content-access <WHO>', 'who gets the content: only you, or every member of the domain', ['creator', 'domain'])
    .excluding('--asset <ASSET>', 'the asset to fill: one of yours that has no content yet', fields)
    .does(async (context, files: string[], options: Options) => {
      const single = (['name', 'asset'] as const).find((option) => options[option] !== undefined);
      if (single && files.length > 1) throw new UsageError(`--${single} goes with one file.`, context.help);
      if (options.asset === undefined) {
        if (options.type === undefined) for (const file of files) await expectFile(file); // before it is asked for
        options.type = await chosenType(context, options.type, files[0] ?? '');
      }
      const session = await context.connect();
      const id = await chosenComputation(session, options.computation);
      const uploaded: Uploaded[] = [];
      try {
        for (const file of files) {
          const found = await uploadOne(session, file, options);
          const { asset: _content, upload: _upload, download: _download, ...shown } = found;
          uploaded.push(shown);
          if (!context.isJson) context.terminal.out(uploadedText(file, shown) + useNote(options.use ?? options.asset, shown.use));
          if (id !== undefined) await session.client.linkAsset({ id: found.id, computationID: id });
        }
      } finally {
        // Also before an error: these are uploaded.
        if (context.isJson && uploaded.length > 0) context.print({ items: uploaded }, () => '');
      }
      const chosen = defaultComputation(session) === undefined ? ' COMPUTATION' : '';
      const links = () => uploaded.map((each) => `asset link ${each.id}${chosen}`);
      const next = options.asset !== undefined ? ['todo'] : id === undefined ? links() : [];
      if (next.length > 0) context.note(`Next: ${next.map((each) => context.command(each)).join('\n      ')}\n`);
    });
}

/** The fields of an asset without its content. */
type Uploaded = Omit<Schemas['Asset'], 'asset' | 'upload' | 'download'>;

const uploadedText = (file: string, { id, size, checksum }: Uploaded) =>
  `Uploaded ${printable(file)} (${sizeText(size)}) as ${id}\n  SHA3-256 ${printable(checksum ?? '')}\n`;

async function uploadOne(context: Session, file: string, options: Options): Promise<Schemas['Asset']> {
  const { name: file_name, mimeType: mime_type, contentAccess: content_access, asset } = options;
  if (asset !== undefined) {
    const id = await identified(context, 'asset', asset);
    const key = isOf(context, context.profile) ? context.profile.keys?.[id] : undefined;
    if (!key) return await uploadInto(context, id, file);
    const message = `The key of this asset is on this machine, so that its file leaves only encrypted. Nothing was uploaded.`;
    throw new UsageError(message, context.command(`asset key set ${id} --key ${shellWord(key.file)} --key-held party`));
  }
  const fields = fieldsOf(options, await chosenType(context, options.type, file));
  return await upload(context, { file, ...fields, ...given({ file_name, mime_type, content_access }) });
}

interface OptionsOfNew extends AddEncryptedOptions {
  checksum?: string;
  kbs?: string;
  kbsPath?: string;
}

export function addAddCommand(asset: CmsCommand): void {
  const add = asset
    .subcommand('add', 'add an asset that the agent of the CVM fetches, or one that leaves this machine encrypted')
    .argument('[URL]', 'its address, which everyone in the domain reads: docker, oci, gs, https or http')
    .option('--checksum <HASH>', 'the SHA3-256 of the file, in hex; of an encrypted one, that of the plain file')
    .assetOptions('the last part of the address')
    .option('--kbs <URL>', 'the key broker service of a file that is encrypted already')
    .option('--kbs-path <PATH>', 'the path of the key there, such as default/key/penguins')
    .option('--decompress', 'the agent unpacks the dataset, a ZIP file')
    .choice('--algo-type <TYPE>', 'how the agent runs the algorithm', algorithmTypes)
    .repeatable('--algo-arg <ARGUMENT>', 'an argument of the algorithm');
  addEncryptedOptions(add).does(async (context, url: string | undefined, options: OptionsOfNew) => {
    const { encrypt, checksum, kbs, kbsPath } = options;
    if (encrypt !== undefined) {
      if ([checksum, kbs, kbsPath].some((each) => each !== undefined))
        throw new UsageError('--encrypt hashes the file and sets its key: leave out --checksum, --kbs and --kbs-path.');
      return await addEncrypted(context, url, encrypt, options);
    }
    if (url === undefined || checksum === undefined)
      throw new UsageError('Give the address and its --checksum, or --encrypt FILE.', context.help);
    await addFetched(context, url, { ...options, checksum });
  });
}

async function addFetched(context: Context, url: string, options: OptionsOfNew & { checksum: string }): Promise<void> {
  const { checksum, name: file_name = basename(url), kbs, kbsPath } = options;
  const type = await chosenType(context, options.type, file_name);
  const session = await context.connect();
  const id = await chosenComputation(session, options.computation);
  const from = sourceTypeOf(url) ?? 'https'; // the service refuses other addresses, and says why
  const source = { type: from, url, ...given({ kbs_resource_path: kbsPath }) };
  const broker = kbs === undefined ? {} : { kbs: { url: kbs } };
  const made = await makeAsset(session, { file_name, checksum, source, ...broker, ...fieldsOf(options, type) }, id);
  const lines = [`Added ${printable(made.file_name)} as ${made.id}`, ...fetchLines(made).map((line) => `  ${printable(line)}`)];
  context.print(made, () => `${lines.join('\n')}\n${useNote(options.use, made.use)}`);
  if (id === undefined) context.note(`Next: ${context.command(`asset link ${made.id} COMPUTATION`)}\n`);
}

/** Makes an asset without a file to upload, and links it to a computation if one is given. */
async function makeAsset({ client }: Session, asset: Fields, computationID: string | undefined) {
  const { upload: _, ...made } = await client.createAsset({ body: { asset } });
  if (computationID !== undefined) await client.linkAsset({ id: made.id, computationID });
  return made;
}

/** Says what the default of `--use` means for a new asset. Empty if the option was given, or every run may use it. */
const useNote = (given: string | undefined, use: string) =>
  given === undefined && use === 'approval'
    ? '  No run uses it without your approval. To open it to every run: --use open\n'
    : '';

export function addDeclareCommand(asset: CmsCommand): void {
  asset
    .subcommand('declare', 'declare a file by its hash, which is computed here: nothing of it is uploaded')
    .argument('<FILE>', 'the file that you will send to the CVM')
    .assetOptions()
    .does(async (context, file: string, options: AssetOptions) => {
      const { name: file_name = basename(file) } = options;
      await expectFile(file);
      const type = await chosenType(context, options.type, file);
      const session = await context.connect();
      const id = await chosenComputation(session, options.computation);
      const { checksum } = await measure(context, file);
      const made = await makeAsset(session, { file_name, checksum, ...fieldsOf(options, type) }, id);
      const declared = `Declared ${printable(file_name)} as ${made.id}\n  SHA3-256 ${checksum}\n`;
      context.print(made, () => declared + useNote(options.use, made.use));
      const how = 'A run starts once the asset has content: upload a sample, which may be any file.';
      context.note(`Nothing of it was uploaded. ${how}\nNext: ${context.command(`asset upload SAMPLE --asset ${made.id}`)}\n`);
    });
}

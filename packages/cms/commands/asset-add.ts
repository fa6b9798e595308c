import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import type { Schemas } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { algorithmTypes, sourceTypeOf } from 'computation-management-formats/source';
import { fetchLines } from 'computation-management-words';
import type { WrapAction } from '../context/context.ts';
import { expectFile, hash } from '../files/transfers.ts';
import { addAssetOptions, chosenComputation, chosenType, collect, given } from './options.ts';

type Fields = Schemas['AssetInputFields'];

interface Options extends Pick<Fields, 'description' | 'use' | 'decompress'> {
  type?: Fields['asset_type'];
  checksum: string;
  computation?: string;
  name?: string;
  kbs?: string;
  kbsPath?: string;
  algoType?: NonNullable<Fields['algo_type']>;
  algoArg?: string[];
}

export function addAddCommand(asset: Command, wrapAction: WrapAction): void {
  const command = asset
    .command('add')
    .description('add an asset that the agent of the CVM fetches: nobody uploads or sends it')
    .argument('<URL>', 'its address, which everyone in the domain reads: docker, oci, gs, https or http')
    .requiredOption('--checksum <HASH>', 'the SHA3-256 of the file, in hex; of an encrypted one, that of the plain file');
  addAssetOptions(command, 'the last part of the address')
    .option('--kbs <URL>', 'the key broker service of an encrypted file')
    .option('--kbs-path <PATH>', 'the path of the key there, such as default/key/penguins')
    .option('--decompress', 'the agent unpacks the dataset, a ZIP file')
    .addOption(new Option('--algo-type <TYPE>', 'how the agent runs the algorithm').choices(algorithmTypes))
    .option('--algo-arg <ARGUMENT>', 'an argument of the algorithm; repeat it for several', collect)
    .action(
      wrapAction(async (context, url: string, options: Options) => {
        const { checksum, name = basename(url), description, use, kbs, kbsPath, decompress, algoType, algoArg } = options;
        const type = await chosenType(context, options.type);
        const source = sourceTypeOf(url) ?? 'https'; // the service refuses other addresses, and says why
        const connection = await context.connect();
        const id = await chosenComputation(context, connection, options.computation);
        const fields = given({
          description,
          use,
          kbs: kbs === undefined ? kbs : { url: kbs },
          decompress,
          algo_type: algoType,
          algo_args: algoArg,
        });
        const from = { type: source, url, ...given({ kbs_resource_path: kbsPath }) };
        const body = { asset: { file_name: name, asset_type: type, checksum, source: from, ...fields } };
        const made = await connection.client.createAsset({ body });
        if (id !== undefined) await connection.client.linkAsset({ id: made.id, computationID: id });
        const lines = fetchLines(made).map((line) => `  ${printable(line)}\n`);
        context.print(made, () => `Added ${printable(made.file_name)} as ${made.id}\n${lines.join('')}`);
        if (id === undefined) context.note(`Next: ${context.command(`asset link ${made.id} COMPUTATION`)}\n`);
      }),
    );
}

export function addDeclareCommand(asset: Command, wrapAction: WrapAction): void {
  const command = asset
    .command('declare')
    .description('declare a file by its hash, which is computed here: nothing of it is uploaded')
    .argument('<FILE>', 'the file that you will send to the CVM');
  addAssetOptions(command).action(
    wrapAction(async (context, file: string, options: Omit<Options, 'checksum'>) => {
      const { name = basename(file), description, use } = options;
      await expectFile(file);
      const type = await chosenType(context, options.type);
      const connection = await context.connect();
      const id = await chosenComputation(context, connection, options.computation);
      const checksum = await hash(context, file);
      const body = { asset: { file_name: name, asset_type: type, checksum, ...given({ description, use }) } };
      const { upload: _, ...made } = await connection.client.createAsset({ body });
      if (id !== undefined) await connection.client.linkAsset({ id: made.id, computationID: id });
      context.print(made, () => `Declared ${printable(name)} as ${made.id}\n  SHA3-256 ${checksum}\n`);
      context.note(
        `Nothing of it was uploaded. A run starts once the asset has content: upload a sample, which may be any file.\nNext: ${context.command(`asset upload SAMPLE --asset ${made.id}`)}\n`,
      );
    }),
  );
}

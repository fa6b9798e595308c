import { Checkbox, SpaceBetween } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { algorithmTypes, sourceTypeOf } from 'computation-management-formats/source';
import { Choice, TextField } from '../frame/index.ts';
import { checksumNote } from './asset-texts.ts';
import type { FieldErrors } from '../loading/index.ts';

type New = Schemas['AssetInputFields'];

/** The fields of a file that the agent fetches, as they are typed. */
export const noSource = {
  url: '',
  checksum: '',
  path: '',
  kbs: '',
  decompress: false,
  runAs: 'bin' as (typeof algorithmTypes)[number],
  args: '',
};
type Typed = typeof noSource;

/** The places in a request that creates an asset whose errors are shown at the fields of a file that the agent fetches. */
export const sourceFields = [
  '/asset/source/url',
  '/asset/source/type',
  '/asset/source/kbs_resource_path',
  '/asset/checksum',
  '/asset/kbs',
  '/asset/algo_args',
] as const;

/** Returns the fields of a new asset that the agent fetches. The service checks them, and says why it takes no other address. */
export function sourceOf({ url, checksum, path, kbs, decompress, runAs, args }: Typed, type: New['asset_type']): Partial<New> {
  return {
    checksum: checksum.toLowerCase(),
    source: { ...(url !== '' && { type: sourceTypeOf(url) ?? 'https', url }), ...(path !== '' && { kbs_resource_path: path }) },
    ...(kbs !== '' && { kbs: { url: kbs } }),
    ...(url === '' // a party sends the file, and says how to run or unpack it
      ? {}
      : type === 'dataset'
        ? { decompress }
        : { algo_type: runAs, algo_args: args.split('\n').filter((line) => line !== '') }),
  };
}

interface Props {
  type: New['asset_type'];
  source: Typed;
  change: (changed: Partial<Typed>) => void;
  errors: Pick<FieldErrors<(typeof sourceFields)[number]>, 'at'>;
}

/** Shows the fields of a file that the agent fetches: its address, its hash, its key, and how it is unpacked or run. */
export function SourceFields({ type, source, change, errors }: Props) {
  const lines = [
    [
      'url',
      'Address',
      'docker, oci, gs, https or http, without a query, user or password: everyone in the domain reads it. Empty: you send the file to the agent, encrypted.',
      errors.at('/asset/source/url') ?? errors.at('/asset/source/type'),
    ],
    [
      'checksum',
      'SHA3-256 of the file',
      'In hex. Of an encrypted file, that of the plain one.',
      errors.at('/asset/checksum') ?? checksumNote(source.checksum),
    ],
    ['kbs', 'Key broker service (optional)', 'Its address, if the file is encrypted.', errors.at('/asset/kbs')],
    [
      'path',
      'Path of the key there (optional)',
      'Three parts, such as default/key/penguins.',
      errors.at('/asset/source/kbs_resource_path'),
    ],
  ] as const;
  return (
    <SpaceBetween size="l">
      {lines.map(([name, label, description, errorText]) => (
        <TextField
          key={name}
          {...{ label, description, errorText }}
          spellcheck={false}
          text={[source[name], (text) => change({ [name]: text.trim() })]}
        />
      ))}
      {type === 'dataset' ? (
        <Checkbox checked={source.decompress} onChange={({ detail }) => change({ decompress: detail.checked })}>
          It is a ZIP file, which the agent unpacks
        </Checkbox>
      ) : (
        <>
          <Choice
            isList
            label="How the agent runs it"
            value={source.runAs}
            options={algorithmTypes.map((value) => ({ value, label: value }))}
            onChange={(runAs) => change({ runAs })}
          />
          <TextField
            label="Arguments (optional)"
            description="One on each line. Approvals cover them."
            errorText={errors.at('/asset/algo_args')}
            rows={2}
            spellcheck={false}
            text={[source.args, (args) => change({ args })]}
          />
        </>
      )}
    </SpaceBetween>
  );
}

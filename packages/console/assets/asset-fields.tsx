import type { KnownAsset, Schemas } from 'computation-management-client';
import { type ReactNode, useState } from 'react';
import { useDomain } from '../access/index.ts';
import { Choice, ConfirmModal, type DialogProps, TextField } from '../frame/index.ts';
import { type FieldErrors, fieldErrors, ReadAgain, useChange } from '../loading/index.ts';

export type AssetFieldValues = Pick<Schemas['AssetRow'], 'file_name' | 'description' | 'content_access' | 'use'>;

/** The places in a request that creates or changes an asset whose errors are shown at a field of the form. */
export const assetFields = ['/asset/file_name', '/asset/description'] as const;

const choices = [
  {
    name: 'content_access',
    label: 'Who may read the content',
    options: [
      { value: 'creator', label: 'Only me', description: 'Nobody else can read it, not even administrators.' },
      { value: 'domain', label: 'Every member of the domain', description: 'You see who read it.' },
    ],
  },
  {
    name: 'use',
    label: 'Use in computations',
    options: [
      { value: 'open', label: 'Open', description: 'Computations may use it without asking you.' },
      { value: 'approval', label: 'With my approval', description: 'A run needs your approval of its manifest.' },
    ],
  },
] as const;

interface Props {
  fields: AssetFieldValues;
  change: (changed: Partial<AssetFieldValues>) => void;
  errors: Pick<FieldErrors<(typeof assetFields)[number]>, 'at'>;
  /** The error of the file name that the console itself found, rather than the service. */
  nameFault?: string | undefined;
  isDisabled?: boolean;
  /** True if the user created the asset: only the creator chooses who may read the content and use the asset. */
  isMine: boolean;
  /** Further fields, which are shown below the file name. */
  children?: ReactNode;
}

/** Shows the fields of an asset other than its content, in a form. */
export function AssetFields({ fields, change, errors, nameFault, isDisabled = false, isMine, children }: Props) {
  const textOf = (name: 'file_name' | 'description') => ({
    text: [fields[name], (text: string) => change({ [name]: text })] as const,
    errorText: errors.at(`/asset/${name}`),
    disabled: isDisabled,
  });
  return (
    <div className="stack">
      <TextField
        label="File name"
        description="The name under which the algorithm finds it."
        {...textOf('file_name')}
        errorText={errors.at('/asset/file_name') ?? nameFault}
      />
      {children}
      <TextField label="Description (optional)" rows={2} {...textOf('description')} />
      {isMine &&
        choices.map(({ name, label, options }) => (
          <Choice<string>
            key={name}
            label={label}
            value={fields[name]}
            options={options}
            isDisabled={isDisabled}
            onChange={(value) => change({ [name]: value })}
          />
        ))}
    </div>
  );
}

/** Shows a dialog that changes an asset. Only the creator can change who may read the content and use the asset. */
export function EditAsset({ found, onClose, onDone }: DialogProps & { found: KnownAsset }) {
  const { client, me } = useDomain();
  // The page behind the dialog loads again: the version to change is the one that the user sees in these fields.
  const [{ asset, etag }] = useState(found);
  const { id, asset_type, mime_type, created_by } = asset;
  const [fields, setFields] = useState<AssetFieldValues>(asset);
  const change = (changed: Partial<AssetFieldValues>) => setFields((before) => ({ ...before, ...changed }));
  const isMine = created_by === me.user;
  const { file_name, description, content_access, use } = fields;
  const body = { asset: { file_name, description, asset_type, mime_type, ...(isMine && { content_access, use }) } };
  const save = useChange(() => client.updateAsset({ id, ifMatch: etag, body }), 'The changes are saved.', onDone);
  const errors = fieldErrors(save.problem, assetFields);
  return (
    <ConfirmModal
      title={`Edit ${asset.file_name}`}
      confirm="Save changes"
      action={save}
      fields={errors.fields}
      conflict={<ReadAgain problem={save.problem} readAgain={onDone} name={asset.file_name} />}
      obstacle={fields.file_name === '' ? 'Name the file first.' : undefined}
      onClose={onClose}
    >
      <AssetFields fields={fields} change={change} errors={errors} isMine={isMine} />
    </ConfirmModal>
  );
}

import type { KnownAsset } from 'computation-management-client';
import { useState } from 'react';
import { useDomain, useFrame } from '../access/console-context.ts';
import { ConfirmModal } from '../frame/confirm-modal.tsx';
import { ReadAgain } from '../loading/problem-alert.tsx';
import { fieldErrors } from '../loading/problem-text.ts';
import { useAction } from '../loading/use-action.ts';
import { AssetFields, assetFields, type AssetFieldValues } from './asset-fields.tsx';

interface Props {
  found: KnownAsset;
  onClose: () => void;
  onSaved: () => void;
  onReadAgain: () => void;
}

/** Changes an asset. Who may read it and what it may be used for are its creator's alone. */
export function EditAsset({ found, onClose, onSaved, onReadAgain }: Props) {
  const { client, me } = useDomain();
  const { notify } = useFrame();
  // The page behind the dialog loads again: the version to change is the one that the user sees in these fields.
  const [{ asset, etag }] = useState(found);
  const { id, asset_type, mime_type, created_by } = asset;
  const [fields, setFields] = useState<AssetFieldValues>({
    file_name: asset.file_name,
    description: asset.description,
    content_access: asset.content_access,
    use: asset.use,
  });
  const change = (changed: Partial<AssetFieldValues>) => setFields((before) => ({ ...before, ...changed }));
  const isMine = created_by === me.user;
  const save = useAction(async () => {
    const { file_name, description } = fields;
    const changed = { file_name, description, asset_type, mime_type };
    await client.updateAsset({ id, ifMatch: etag, body: { asset: isMine ? { ...changed, ...fields } : changed } });
    notify('The changes are saved.');
    onSaved();
  });
  const errors = fieldErrors(save.problem, assetFields);
  return (
    <ConfirmModal
      title={`Edit ${asset.file_name}`}
      confirm="Save changes"
      action={save}
      fields={errors.fields}
      conflict={
        <ReadAgain problem={save.problem} readAgain={onReadAgain}>
          Nothing was saved. Reading {asset.file_name} again shows the changes of others, and drops yours.
        </ReadAgain>
      }
      isDisabled={fields.file_name === ''}
      onClose={onClose}
    >
      <AssetFields fields={fields} change={change} errors={errors} isMine={isMine} />
    </ConfirmModal>
  );
}

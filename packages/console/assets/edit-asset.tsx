import FormField from '@cloudscape-design/components/form-field';
import Input from '@cloudscape-design/components/input';
import RadioGroup from '@cloudscape-design/components/radio-group';
import Textarea from '@cloudscape-design/components/textarea';
import type { KnownAsset, Schemas } from 'computation-management-client';
import { useState } from 'react';
import { useDomain, useFrame } from '../access/console-context.ts';
import { ConfirmModal } from '../frame/confirm-modal.tsx';
import { ReadAgain } from '../loading/problem-alert.tsx';
import { fieldErrors } from '../loading/problem-text.ts';
import { useAction } from '../loading/use-action.ts';
import { accessOptions, useOptions } from './asset-texts.ts';

type Fields = Pick<Schemas['AssetRow'], 'file_name' | 'description' | 'content_access' | 'use'>;

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
  const [fields, setFields] = useState<Fields>({
    file_name: asset.file_name,
    description: asset.description,
    content_access: asset.content_access,
    use: asset.use,
  });
  const change = (changed: Partial<Fields>) => setFields((before) => ({ ...before, ...changed }));
  const isMine = created_by === me.user;
  const save = useAction(async () => {
    const { file_name, description } = fields;
    const changed = { file_name, description, asset_type, mime_type };
    await client.updateAsset({ id, ifMatch: etag, body: { asset: isMine ? { ...changed, ...fields } : changed } });
    notify('The changes are saved.');
    onSaved();
  });
  const errors = fieldErrors(save.problem, ['/asset/file_name', '/asset/description']);
  return (
    <ConfirmModal
      title={`Edit ${asset.file_name}`}
      confirm="Save changes"
      isRunning={save.isRunning}
      problem={save.problem}
      fields={errors.fields}
      conflict={
        <ReadAgain problem={save.problem} readAgain={onReadAgain}>
          Nothing was saved. Reading {asset.file_name} again shows the changes of others, and drops yours.
        </ReadAgain>
      }
      isDisabled={fields.file_name === ''}
      onConfirm={() => void save.run()}
      onClose={onClose}
    >
      <FormField label="File name" errorText={errors.at('/asset/file_name')}>
        <Input value={fields.file_name} onChange={({ detail }) => change({ file_name: detail.value })} />
      </FormField>
      <FormField label="Description (optional)" errorText={errors.at('/asset/description')}>
        <Textarea value={fields.description} rows={2} onChange={({ detail }) => change({ description: detail.value })} />
      </FormField>
      {isMine && (
        <>
          <FormField label="Who may read the content">
            <RadioGroup
              value={fields.content_access}
              items={accessOptions}
              onChange={({ detail }) => change({ content_access: detail.value === 'domain' ? 'domain' : 'creator' })}
            />
          </FormField>
          <FormField label="Use in computations">
            <RadioGroup
              value={fields.use}
              items={useOptions}
              onChange={({ detail }) => change({ use: detail.value === 'approval' ? 'approval' : 'open' })}
            />
          </FormField>
        </>
      )}
    </ConfirmModal>
  );
}

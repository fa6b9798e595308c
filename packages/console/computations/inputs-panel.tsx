import { Alert, Button, FormField, Link, SpaceBetween } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { useState } from 'react';
import { useDomain, useFrame } from '../access/console-context.ts';
import { permissions } from '../access/permissions.ts';
import { AssetSelect } from '../assets/asset-select.tsx';
import { assetTypeText } from '../assets/asset-texts.ts';
import { ConfirmModal } from '../frame/confirm-modal.tsx';
import { type Column, FactTable } from '../lists/columns.tsx';
import type { Input, Overview } from '../loading/overview.ts';
import { useAction } from '../loading/use-action.ts';
import { addressOf } from '../routing/places.ts';
import { Hash } from '../show/hash.tsx';
import { AssetState, StatusIndicator } from '../show/status.tsx';
import { sizeText } from '../show/texts.ts';
import { User, Warnings } from '../show/visible-texts.tsx';

interface Props {
  overview: Overview;
  reload: () => void;
}

/** Shows the assets that are linked to a computation, with their hashes. */
export function InputsPanel({ overview, reload }: Props) {
  const { domain, me } = useDomain();
  const [isLinking, setLinking] = useState(false);
  const [unlinked, setUnlinked] = useState<Input>();
  const { computation, inputs, warnings } = overview;
  const mayLinkAll = permissions.linkAsset(me, { created_by: '' }, computation);
  const mayLinkOwn = mayLinkAll || permissions.createAnyAsset(me);
  const mayUnlink = ({ created_by = '' }: Input) => permissions.linkAsset(me, { created_by }, computation);
  const upload = permissions.createAnyAsset(me) && (
    <Button href={addressOf({ screen: 'new-asset', domain }, { computation: computation.id })}>Upload asset</Button>
  );
  const done = () => {
    setLinking(false);
    setUnlinked(undefined);
    reload();
  };
  const columns: Column<Input>[] = [
    {
      id: 'file',
      header: 'File',
      isRowHeader: true,
      minWidth: 130,
      cell: ({ id, file_name }) => <Link href={addressOf({ screen: 'asset', domain, id })}>{file_name}</Link>,
    },
    { id: 'type', header: 'Type', isSecondary: true, cell: ({ asset_type }) => assetTypeText(asset_type) },
    {
      id: 'hash',
      header: 'SHA3-256',
      isSecondary: true,
      cell: ({ checksum, file_name }) => (checksum ? <Hash value={checksum} what={`hash of ${file_name}`} /> : '-'),
    },
    {
      id: 'state',
      header: 'Content',
      isSecondary: true,
      minWidth: 150,
      cell: ({ state, size = 0 }) =>
        state === undefined ? (
          <StatusIndicator type="info">Open the asset</StatusIndicator>
        ) : (
          <>
            <AssetState state={state} /> {state === 'ready' && sizeText(size)}
          </>
        ),
    },
    {
      id: 'creator',
      header: 'Creator',
      isSecondary: true,
      cell: ({ created_by }) => (created_by === undefined ? '-' : <User of={created_by} />),
    },
    {
      id: 'use',
      header: 'Use',
      isSecondary: true,
      cell: ({ use }) => (use === undefined ? '-' : use === 'approval' ? 'With approval' : 'Open'),
    },
    {
      id: 'actions',
      header: 'Actions',
      cell: (input) =>
        mayUnlink(input) ? (
          <Button variant="inline-link" ariaLabel={`Unlink ${input.file_name}`} onClick={() => setUnlinked(input)}>
            Unlink
          </Button>
        ) : (
          '-'
        ),
    },
  ];
  return (
    <>
      <FactTable
        title="Inputs"
        counter={`(${inputs.length})`}
        actions={
          mayLinkOwn && (
            <div className="row">
              {upload}
              <Button onClick={() => setLinking(true)}>Link asset</Button>
            </div>
          )
        }
        items={inputs}
        rowKey={({ id }) => id}
        columns={columns}
        footer={
          warnings.length > 0 && (
            <Alert type="warning" header="This may be a mistake">
              <Warnings of={warnings} />
            </Alert>
          )
        }
        empty={
          <SpaceBetween size="s" alignItems="center">
            <span>No assets are linked. A run needs one algorithm.</span>
            {upload}
          </SpaceBetween>
        }
      />
      {isLinking && <LinkAsset overview={overview} onClose={() => setLinking(false)} onLinked={done} />}
      {unlinked && (
        <UnlinkAsset computation={computation} input={unlinked} onClose={() => setUnlinked(undefined)} onUnlinked={done} />
      )}
    </>
  );
}

interface LinkProps {
  overview: Overview;
  onClose: () => void;
  onLinked: () => void;
}

/** Shows a dialog that links to a computation one of the assets that the user may link. */
function LinkAsset({ overview: { computation, inputs }, onClose, onLinked }: LinkProps) {
  const { client, me } = useDomain();
  const { notify } = useFrame();
  const [chosen, setChosen] = useState<{ id: string; file_name: string }>();
  const link = useAction(async () => {
    if (!chosen) return;
    await client.linkAsset({ id: chosen.id, computationID: computation.id });
    notify(`${chosen.file_name} is linked.`);
    onLinked();
  });
  const linked = new Set(inputs.map(({ id }) => id));
  return (
    <ConfirmModal
      title={`Link an asset to ${computation.name}`}
      confirm="Link"
      action={link}
      obstacle={chosen ? undefined : 'Choose an asset first.'}
      onClose={onClose}
    >
      <FormField label="Asset" description="Lists the assets that you may link, newest first.">
        <AssetSelect
          chosen={chosen}
          isOffered={(asset) => !linked.has(asset.id) && permissions.linkAsset(me, asset, computation)}
          onChoose={setChosen}
        />
      </FormField>
    </ConfirmModal>
  );
}

interface UnlinkProps {
  computation: Schemas['Computation'];
  input: Input;
  onClose: () => void;
  onUnlinked: () => void;
}

function UnlinkAsset({ computation, input: { id, file_name }, onClose, onUnlinked }: UnlinkProps) {
  const { client } = useDomain();
  const { notify } = useFrame();
  const unlink = useAction(async () => {
    await client.unlinkAsset({ id, computationID: computation.id });
    notify(`${file_name} is no longer linked.`);
    onUnlinked();
  });
  return (
    <ConfirmModal title={`Unlink ${file_name}`} confirm="Unlink" action={unlink} onClose={onClose}>
      The manifest of {computation.name} changes, so approvals that were given become stale. A run that is active keeps the file.
    </ConfirmModal>
  );
}

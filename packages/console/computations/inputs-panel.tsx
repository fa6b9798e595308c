import { Alert, Button, FormField } from '@cloudscape-design/components';
import { useState } from 'react';
import { permissions, useDomain } from '../access/index.ts';
import { AssetSelect } from '../assets/asset-select.tsx';
import { assetTypeText } from '../assets/asset-texts.ts';
import { ConfirmModal, type DialogProps, GoTo, useAsked } from '../frame/index.ts';
import { type Column, FactTable, Nothing } from '../lists/index.ts';
import { type Input, type Overview, useChange } from '../loading/index.ts';
import { addressOf } from '../routing/index.ts';
import { AssetState, Hash, sizeText, StatusIndicator, User, Warnings } from '../show/index.ts';

/** Shows the assets that are linked to a computation, with their hashes. */
export function InputsPanel({ overview, reload }: { overview: Overview; reload: () => void }) {
  const { domain, me } = useDomain();
  const { asked, setAsked, dialog } = useAsked<'link' | Input>(reload);
  const { computation, inputs, warnings } = overview;
  const mayLinkAll = permissions.linkAsset(me, { created_by: '' }, computation);
  const mayLinkOwn = mayLinkAll || permissions.createAnyAsset(me);
  const mayUnlink = ({ created_by = '' }: Input) => permissions.linkAsset(me, { created_by }, computation);
  const upload = permissions.createAnyAsset(me) && (
    <Button href={addressOf({ screen: 'new-asset', domain }, { computation: computation.id })}>Upload asset</Button>
  );
  const columns: Column<Input>[] = [
    {
      header: 'File',
      isRowHeader: true,
      minWidth: 130,
      cell: ({ id, file_name }) => <GoTo place={{ screen: 'asset', id }}>{file_name}</GoTo>,
    },
    { header: 'Type', cell: ({ asset_type }) => assetTypeText(asset_type) },
    {
      header: 'SHA3-256',
      cell: ({ checksum, file_name }) => (checksum ? <Hash value={checksum} what={`hash of ${file_name}`} /> : '-'),
    },
    {
      header: 'Content',
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
    { header: 'Creator', cell: ({ created_by }) => (created_by === undefined ? '-' : <User of={created_by} />) },
    { header: 'Use', cell: ({ use }) => (use === undefined ? '-' : use === 'approval' ? 'With approval' : 'Open') },
    {
      header: 'Actions',
      isPrimary: true,
      cell: (input) =>
        mayUnlink(input) ? (
          <Button variant="inline-link" ariaLabel={`Unlink ${input.file_name}`} onClick={() => setAsked(input)}>
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
              <Button onClick={() => setAsked('link')}>Link asset</Button>
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
        empty={<Nothing text="No assets are linked. A run needs one algorithm." action={upload} />}
      />
      {asked === 'link' && <LinkAsset overview={overview} {...dialog} />}
      {asked !== undefined && asked !== 'link' && <UnlinkAsset overview={overview} input={asked} {...dialog} />}
    </>
  );
}

type Props = DialogProps & { overview: Overview };

/** Shows a dialog that links to a computation one of the assets that the user may link. */
function LinkAsset({ overview: { computation, inputs }, onClose, onDone }: Props) {
  const { client, me } = useDomain();
  const [chosen, setChosen] = useState<{ id: string; file_name: string }>();
  const { id = '', file_name = '' } = chosen ?? {};
  const link = useChange(() => client.linkAsset({ id, computationID: computation.id }), `${file_name} is linked.`, onDone);
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

function UnlinkAsset({ overview: { computation }, input: { id, file_name }, onClose, onDone }: Props & { input: Input }) {
  const { client } = useDomain();
  const given = { id, computationID: computation.id };
  const unlink = useChange(() => client.unlinkAsset(given), `${file_name} is no longer linked.`, onDone);
  return (
    <ConfirmModal title={`Unlink ${file_name}`} confirm="Unlink" action={unlink} onClose={onClose}>
      The manifest of {computation.name} changes, so approvals that were given become stale. A run that is active keeps the file.
    </ConfirmModal>
  );
}

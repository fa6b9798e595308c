import Button from '@cloudscape-design/components/button';
import Header from '@cloudscape-design/components/header';
import Link from '@cloudscape-design/components/link';
import SpaceBetween from '@cloudscape-design/components/space-between';
import Table from '@cloudscape-design/components/table';
import { useState } from 'react';
import { AssetState } from '../assets/asset-state.tsx';
import { assetTypeText } from '../assets/asset-texts.ts';
import { permissions } from '../access/permissions.ts';
import { type Column, definitionsOf } from '../lists/columns.tsx';
import { useNarrow } from '../lists/use-narrow.ts';
import { addressOf } from '../routing/places.ts';
import { useDomain } from '../shell/console-context.ts';
import { Hash } from '../show/hash.tsx';
import { sizeText } from '../show/size-text.ts';
import { StatusIndicator } from '../show/status-indicator.tsx';
import { LinkAsset } from './link-asset.tsx';
import type { Input, Overview } from './load-overview.ts';
import { UnlinkAsset } from './unlink-asset.tsx';

interface Props {
  overview: Overview;
  reload: () => void;
}

/** The linked assets with their hashes. */
export function InputsPanel({ overview, reload }: Props) {
  const { domain, me } = useDomain();
  const isNarrow = useNarrow();
  const [isLinking, setLinking] = useState(false);
  const [unlinked, setUnlinked] = useState<Input>();
  const { computation, inputs } = overview;
  const mayLinkAll = permissions.linkAsset(me, { created_by: '' }, computation);
  const mayLinkOwn = mayLinkAll || permissions.createAnyAsset(me);
  const mayUnlink = ({ created_by = '' }: Input) => permissions.linkAsset(me, { created_by }, computation);
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
    { id: 'creator', header: 'Creator', isSecondary: true, cell: ({ created_by }) => created_by ?? '-' },
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
      <Table
        header={
          <Header
            variant="h2"
            counter={`(${inputs.length})`}
            actions={mayLinkOwn && <Button onClick={() => setLinking(true)}>Link asset</Button>}
          >
            Inputs
          </Header>
        }
        ariaLabels={{ tableLabel: 'Inputs' }}
        items={inputs}
        trackBy="id"
        wrapLines
        columnDefinitions={definitionsOf(columns, isNarrow)}
        empty={
          <SpaceBetween size="s" alignItems="center">
            <span>No assets are linked. A run needs one algorithm.</span>
            {permissions.createAnyAsset(me) && (
              <Button href={addressOf({ screen: 'new-asset', domain }, { computation: computation.id })}>Upload asset</Button>
            )}
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

import Box from '@cloudscape-design/components/box';
import Button from '@cloudscape-design/components/button';
import Header from '@cloudscape-design/components/header';
import Link from '@cloudscape-design/components/link';
import SpaceBetween from '@cloudscape-design/components/space-between';
import StatusIndicator from '@cloudscape-design/components/status-indicator';
import Table from '@cloudscape-design/components/table';
import { useState } from 'react';
import { AssetState } from '../assets/asset-state.tsx';
import { assetTypeText } from '../assets/asset-texts.ts';
import { permissions } from '../access/permissions.ts';
import { useNarrow } from '../lists/use-narrow.ts';
import { addressOf } from '../routing/places.ts';
import { useDomain } from '../shell/console-context.ts';
import { useKeptFocus } from '../shell/use-kept-focus.ts';
import { Hash } from '../show/hash.tsx';
import { sizeText } from '../show/size-text.ts';
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
  const panel = useKeptFocus();
  const { computation, inputs } = overview;
  const mayLinkAll = permissions.linkAsset(me, { created_by: '' }, computation);
  const mayLinkOwn = mayLinkAll || permissions.createAnyAsset(me);
  const mayUnlink = ({ created_by = '' }: Input) => permissions.linkAsset(me, { created_by }, computation);
  const done = () => {
    setLinking(false);
    setUnlinked(undefined);
    reload();
  };
  const secondary = [
    { id: 'size', header: 'Size', cell: ({ size }: Input) => (size === undefined ? '-' : sizeText(size)) },
    { id: 'creator', header: 'Creator', cell: ({ created_by }: Input) => created_by ?? '-' },
    {
      id: 'use',
      header: 'Use',
      cell: ({ use }: Input) => (use === undefined ? '-' : use === 'approval' ? 'With approval' : 'Open'),
    },
  ];
  return (
    <>
      <div ref={panel}>
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
          columnDefinitions={[
            {
              id: 'file',
              header: 'File',
              isRowHeader: true,
              minWidth: 130,
              cell: (input) => (
                <>
                  <Link href={addressOf({ screen: 'asset', domain, id: input.id })}>{input.file_name}</Link>
                  {isNarrow && (
                    <Box variant="small" display="block">
                      {[
                        assetTypeText(input.asset_type),
                        ...secondary.map(({ cell }) => cell(input)).filter((fact) => fact !== '-'),
                      ].join(', ')}
                    </Box>
                  )}
                </>
              ),
            },
            ...(isNarrow ? [] : [{ id: 'type', header: 'Type', cell: ({ asset_type }: Input) => assetTypeText(asset_type) }]),
            {
              id: 'hash',
              header: 'SHA3-256',
              minWidth: 150,
              cell: ({ checksum, file_name }) => <Hash value={checksum} what={`hash of ${file_name}`} />,
            },
            {
              id: 'state',
              header: 'Content',
              minWidth: 120,
              cell: ({ state }) =>
                state === undefined ? (
                  <StatusIndicator type="info">Open the asset</StatusIndicator>
                ) : (
                  <AssetState state={state} />
                ),
            },
            ...(isNarrow ? [] : secondary),
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
          ]}
          empty={
            <SpaceBetween size="s" alignItems="center">
              <span>No assets are linked. A run needs one algorithm.</span>
              {permissions.createAnyAsset(me) && (
                <Button href={addressOf({ screen: 'new-asset', domain }, { computation: computation.id })}>Upload asset</Button>
              )}
            </SpaceBetween>
          }
        />
      </div>
      {isLinking && <LinkAsset overview={overview} onClose={() => setLinking(false)} onLinked={done} />}
      {unlinked && (
        <UnlinkAsset computation={computation} input={unlinked} onClose={() => setUnlinked(undefined)} onUnlinked={done} />
      )}
    </>
  );
}

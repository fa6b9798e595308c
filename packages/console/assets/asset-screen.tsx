import Alert from '@cloudscape-design/components/alert';
import Box from '@cloudscape-design/components/box';
import Button from '@cloudscape-design/components/button';
import Container from '@cloudscape-design/components/container';
import Header from '@cloudscape-design/components/header';
import KeyValuePairs from '@cloudscape-design/components/key-value-pairs';
import SpaceBetween from '@cloudscape-design/components/space-between';
import Table from '@cloudscape-design/components/table';
import { assetWithoutReading, type KnownAsset } from 'computation-management-client';
import { useState } from 'react';
import { permissions } from '../access/permissions.ts';
import { LoadedView } from '../loading/loaded-view.tsx';
import { useLoaded } from '../loading/use-loaded.ts';
import { useDomain } from '../shell/console-context.ts';
import { ScreenFrame } from '../shell/screen-frame.tsx';
import { Hash } from '../show/hash.tsx';
import { sizeText } from '../show/size-text.ts';
import { Moment } from '../show/time.tsx';
import { aboveAsset } from './above-asset.ts';
import { AssetState } from './asset-state.tsx';
import { assetTypeText } from './asset-texts.ts';
import { ContentPanel } from './content-panel.tsx';
import { DeleteAsset } from './delete-asset.tsx';
import { EditAsset } from './edit-asset.tsx';
import { LinkedComputations } from './linked-computations.tsx';

/** One asset: what is known of it, its content as far as the user may have it, and where it is used. */
export function AssetScreen({ id }: { id: string }) {
  const { client, domain, me } = useDomain();
  const [asked, setAsked] = useState<'edit' | 'delete'>();
  const loaded = useLoaded(id, (signal) => assetWithoutReading(client, { id, user: me.user, signal }));
  const asset = loaded.value?.asset;
  const mayChange = asset && permissions.changeAsset(me, asset);
  const close = () => setAsked(undefined);
  const closeAndReload = () => {
    close();
    loaded.reload();
  };
  return (
    <ScreenFrame
      title={asset?.file_name ?? 'Asset'}
      description={asset?.description}
      above={aboveAsset(domain)}
      actions={
        <>
          <Button iconName="refresh" ariaLabel="Refresh" loading={loaded.isLoading} onClick={loaded.reload} />
          {mayChange && <Button onClick={() => setAsked('delete')}>Delete</Button>}
          {mayChange && <Button onClick={() => setAsked('edit')}>Edit</Button>}
        </>
      }
    >
      <LoadedView loaded={loaded} what="the asset">
        {(found) => (
          <>
            <AssetSummary found={found} />
            <ContentPanel found={found} reload={loaded.reload} />
            <LinkedComputations id={id} />
            {asked === 'delete' && <DeleteAsset found={found} onClose={close} onReadAgain={closeAndReload} />}
            {asked === 'edit' && (
              <EditAsset found={found} onClose={close} onSaved={closeAndReload} onReadAgain={closeAndReload} />
            )}
          </>
        )}
      </LoadedView>
    </ScreenFrame>
  );
}

function AssetSummary({ found: { asset } }: { found: KnownAsset }) {
  const { me } = useDomain();
  const isMine = asset.created_by === me.user;
  return (
    <>
      <Container header={<Header variant="h2">Summary</Header>}>
        <KeyValuePairs
          columns={4}
          items={[
            { label: 'Type', value: assetTypeText(asset.asset_type) },
            { label: 'Content', value: <AssetState state={asset.state} /> },
            { label: 'Size', value: asset.state === 'ready' ? sizeText(asset.size) : '-' },
            { label: 'Creator', value: isMine ? `${asset.created_by} (you)` : asset.created_by },
            { label: 'Use', value: asset.use === 'approval' ? "With the creator's approval" : 'Open' },
            { label: 'Content for', value: asset.content_access === 'domain' ? 'Every member' : 'Its creator only' },
            { label: 'Created', value: <Moment at={asset.created_at} /> },
            { label: 'Updated', value: <Moment at={asset.updated_at} /> },
            { label: 'Identifier', value: <Hash value={asset.id} what="identifier" /> },
          ]}
        />
        <Box margin={{ top: 'l' }}>
          <KeyValuePairs
            columns={1}
            items={[{ label: 'SHA3-256 of the content', value: <Hash value={asset.checksum} what="hash" isWhole /> }]}
          />
        </Box>
      </Container>
      {asset.content_reads && <ContentReads reads={asset.content_reads} />}
    </>
  );
}

function ContentReads({ reads }: { reads: { user: string; read_at: string }[] }) {
  return (
    <SpaceBetween size="s">
      <Table
        header={
          <Header variant="h2" counter={`(${reads.length})`} description="Who else has read the content, the latest 100.">
            Reads by others
          </Header>
        }
        ariaLabels={{ tableLabel: 'Reads by others' }}
        items={reads}
        columnDefinitions={[
          { id: 'user', header: 'User', isRowHeader: true, cell: ({ user }) => user },
          { id: 'at', header: 'Read', cell: ({ read_at }) => <Moment at={read_at} /> },
        ]}
        empty={<Box textAlign="center">Nobody else has read it.</Box>}
      />
      {reads.length === 100 && <Alert type="info">Earlier reads are no longer recorded.</Alert>}
    </SpaceBetween>
  );
}

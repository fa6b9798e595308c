import { Box, Button, KeyValuePairs, SpaceBetween } from '@cloudscape-design/components';
import { assetWithoutReading, type KnownAsset } from 'computation-management-client';
import { permissions, useDomain } from '../access/index.ts';
import { DeleteModal, GoTo, Panel, ScreenFrame, useAsked } from '../frame/index.ts';
import { FactTable, PagedTable, usePage } from '../lists/index.ts';
import { ActionButton, LoadedView, useLoaded } from '../loading/index.ts';
import { aboveAsset, addressOf } from '../routing/index.ts';
import { fetchLines, hasKeyHere, keyCaution } from 'computation-management-words';
import { AssetState, Hash, Lines, Moment, Name, sizeText, Status, StatusIndicator, User } from '../show/index.ts';
import { assetTypeText } from './asset-texts.ts';
import { EditAsset } from './asset-fields.tsx';
import { KeyPanel } from './key-panel.tsx';
import { saveContent } from './save-content.ts';
import { UploadForm } from './upload-progress.tsx';

/** Shows the screen of an asset: its facts, its content if the user may read it, and the computations that use the asset. */
export function AssetScreen({ id }: { id: string }) {
  const { client, domain, me } = useDomain();
  const loaded = useLoaded(id, (signal) => assetWithoutReading(client, { id, user: me.user, signal }));
  const { asked, setAsked, dialog } = useAsked<'edit' | 'delete'>(loaded.reload);
  const asset = loaded.value?.asset;
  const mayChange = asset && asset.asset_type !== 'result' && permissions.changeAsset(me, asset);
  return (
    <ScreenFrame
      title={asset?.file_name ?? 'Asset'}
      description={asset?.description}
      above={aboveAsset(domain)}
      loaded={loaded}
      actions={
        mayChange && (
          <>
            <Button onClick={() => setAsked('delete')}>Delete</Button>
            <Button onClick={() => setAsked('edit')}>Edit</Button>
          </>
        )
      }
    >
      <LoadedView loaded={loaded} what="the asset">
        {(found) => (
          <>
            <AssetSummary found={found} />
            <ContentPanel asset={found.asset} reload={loaded.reload} />
            {found.asset.created_by === me.user && found.asset.asset_type !== 'result' && (
              <KeyPanel asset={found.asset} reload={loaded.reload} />
            )}
            <LinkedComputations id={id} />
            {asked === 'delete' && (
              <DeleteModal
                name={found.asset.file_name}
                remove={() => client.deleteAsset({ id, ifMatch: found.etag })}
                list={addressOf({ screen: 'assets', domain })}
                {...dialog}
              >
                Its content is deleted, and it is removed from every computation. This cannot be undone.
              </DeleteModal>
            )}
            {asked === 'edit' && <EditAsset found={found} {...dialog} />}
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
      <Panel title="Summary">
        <KeyValuePairs
          columns={4}
          items={[
            { label: 'Type', value: assetTypeText(asset.asset_type) },
            { label: 'Content', value: <AssetState state={asset.state} /> },
            { label: 'Size', value: asset.state === 'ready' && asset.size !== null ? sizeText(asset.size) : '-' },
            {
              label: 'Creator',
              value: (
                <>
                  <User of={asset.created_by} />
                  {isMine && ' (you)'}
                </>
              ),
            },
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
            items={[
              { label: 'SHA3-256 of the content', value: <Hash value={asset.checksum} what="hash" isWhole /> },
              ...(asset.source ? [{ label: 'Source', value: <Lines of={fetchLines(asset)} /> }] : []),
              ...(hasKeyHere(asset) && !isMine ? [{ label: 'Key', value: keyCaution(asset) }] : []),
            ]}
          />
        </Box>
      </Panel>
      {asset.content_reads && <ContentReads reads={asset.content_reads} />}
    </>
  );
}

function ContentReads({ reads }: { reads: { user: string; read_at: string }[] }) {
  return (
    <FactTable
      title="Reads by others"
      counter={`(${reads.length})`}
      description="Who else has read the content: the latest 100. Earlier ones are not kept."
      items={reads}
      rowKey={({ user, read_at }) => `${read_at} ${user}`}
      columns={[
        { header: 'User', isRowHeader: true, cell: ({ user }) => <User of={user} /> },
        { header: 'Read', isPrimary: true, cell: ({ read_at }) => <Moment at={read_at} /> },
      ]}
      empty="Nobody else has read it."
    />
  );
}

/** Shows the computations that an asset is linked to. */
function LinkedComputations({ id }: { id: string }) {
  const page = usePage('listLinkedComputations', { id });
  return (
    <PagedTable
      title="Computations that use it"
      variant="container"
      page={page}
      rowKey={(computation) => computation.id}
      columns={[
        {
          header: 'Name',
          isRowHeader: true,
          cell: ({ id: computation, name }) => <GoTo place={{ screen: 'computation', id: computation }}>{name}</GoTo>,
        },
        { header: 'Status', isPrimary: true, minWidth: 120, cell: ({ status }) => <Status status={status} /> },
        { header: 'Owner', cell: ({ owner }) => <User of={owner} /> },
      ]}
      empty="No computation uses it."
    />
  );
}

/**
 * Shows the content of an asset: for its creator a form to upload the content, for those who may read it a download, and otherwise that the
 * content is withheld.
 */
export function ContentPanel({ asset, reload }: { asset: KnownAsset['asset']; reload: () => void }) {
  const { me } = useDomain();
  return (
    <Panel title="Content">
      {asset.source && asset.size === null ? (
        <StatusIndicator type="info">
          The service has no content:{' '}
          {asset.source.url === undefined ? (
            'a party sends it to the agent, encrypted.'
          ) : (
            <>
              the agent fetches it from <Name of={asset.source.url} />.
            </>
          )}
        </StatusIndicator>
      ) : asset.state === 'pending' && asset.created_by === me.user ? (
        <UploadForm
          description={`The content of ${asset.file_name}, up to 5 GiB.`}
          submit="Upload"
          asset={asset.file_name}
          begin={() => Promise.resolve({ id: asset.id })}
          notice={`${asset.file_name} is uploaded.`}
          reload={reload}
        />
      ) : asset.state === 'pending' ? (
        <StatusIndicator type="pending">The creator has not uploaded the content yet.</StatusIndicator>
      ) : asset.asset_type === 'result' ? (
        <StatusIndicator type="info">The page of its run says who may get this result, and gives it to them.</StatusIndicator>
      ) : permissions.readContent(me, asset) ? (
        <ReadContent asset={asset} isMine={asset.created_by === me.user} />
      ) : (
        <StatusIndicator type="info">
          The content is withheld: only its creator, <User of={asset.created_by} />, may read it. Compare the hash instead.
        </StatusIndicator>
      )}
    </Panel>
  );
}

function ReadContent({ asset, isMine }: { asset: KnownAsset['asset']; isMine: boolean }) {
  const { client } = useDomain();
  return (
    <SpaceBetween size="s">
      <ActionButton iconName="download" act={async () => saveContent(await client.getAsset({ id: asset.id }))}>
        Download {asset.file_name}
      </ActionButton>
      {!isMine && (
        <Box variant="small">
          The creator, <User of={asset.created_by} />, sees that you read it.
        </Box>
      )}
    </SpaceBetween>
  );
}

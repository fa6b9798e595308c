import { Alert, Box, Button, FileUpload, KeyValuePairs, Link, SpaceBetween } from '@cloudscape-design/components';
import { assetWithoutReading, type KnownAsset, type Schemas } from 'computation-management-client';
import { useState } from 'react';
import { useDomain } from '../access/console-context.ts';
import { permissions } from '../access/permissions.ts';
import { Panel, ScreenFrame } from '../frame/screen-frame.tsx';
import { FactTable } from '../lists/columns.tsx';
import { PagedTable, usePage } from '../lists/paged-table.tsx';
import { LoadedView, ProblemAlert } from '../loading/problem-alert.tsx';
import { useLoaded } from '../loading/use-loaded.ts';
import { aboveAsset, addressOf } from '../routing/places.ts';
import { fetchLines } from 'computation-management-words';
import { Hash, Lines } from '../show/hash.tsx';
import { AssetState, Status, StatusIndicator } from '../show/status.tsx';
import { sizeText } from '../show/texts.ts';
import { Moment } from '../show/time.tsx';
import { Name, User } from '../show/visible-texts.tsx';
import { assetTypeText, fileFault, fileUploadTexts } from './asset-texts.ts';
import { DeleteModal } from '../frame/confirm-modal.tsx';
import { EditAsset } from './asset-fields.tsx';
import { fromBase64 } from 'computation-management-formats/bytes';
import { useAction } from '../loading/use-action.ts';
import { useUnsavedWork } from '../routing/unsaved-work.ts';
import { saveFile } from '../show/save-file.ts';
import { OtherContent } from './upload-file.ts';
import { UploadProgress, useUpload } from './upload-progress.tsx';

/** Shows the screen of an asset: its facts, its content if the user may read it, and the computations that use the asset. */
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
            {asked === 'delete' && (
              <DeleteModal
                name={found.asset.file_name}
                remove={() => client.deleteAsset({ id, ifMatch: found.etag })}
                notice={`${found.asset.file_name} is deleted.`}
                list={addressOf({ screen: 'assets', domain })}
                onClose={close}
                onReadAgain={closeAndReload}
              >
                Its content is deleted, and it is removed from every computation. This cannot be undone.
              </DeleteModal>
            )}
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
    <SpaceBetween size="s">
      <FactTable
        title="Reads by others"
        counter={`(${reads.length})`}
        description="Who else has read the content, the latest 100."
        items={reads}
        rowKey={({ user, read_at }) => `${read_at} ${user}`}
        columns={[
          { id: 'user', header: 'User', isRowHeader: true, cell: ({ user }) => <User of={user} /> },
          { id: 'at', header: 'Read', cell: ({ read_at }) => <Moment at={read_at} /> },
        ]}
        empty="Nobody else has read it."
      />
      {reads.length === 100 && <Alert type="info">Earlier reads are no longer recorded.</Alert>}
    </SpaceBetween>
  );
}

/** Shows the computations that an asset is linked to. */
function LinkedComputations({ id }: { id: string }) {
  const { domain } = useDomain();
  const page = usePage('listLinkedComputations', { id });
  return (
    <PagedTable
      title="Computations that use it"
      variant="container"
      page={page}
      rowKey={(computation) => computation.id}
      columns={[
        {
          id: 'name',
          header: 'Name',
          isRowHeader: true,
          cell: ({ id: computation, name }) => (
            <Link href={addressOf({ screen: 'computation', domain, id: computation })}>{name}</Link>
          ),
        },
        { id: 'status', header: 'Status', minWidth: 120, cell: ({ status }) => <Status status={status} /> },
        { id: 'owner', header: 'Owner', isSecondary: true, cell: ({ owner }) => <User of={owner} /> },
      ]}
      empty="No computation uses it."
    />
  );
}

interface ContentProps {
  found: KnownAsset;
  reload: () => void;
}

/**
 * Shows the content of an asset: for its creator a form to upload the content, for those who may read it a download, and otherwise that the
 * content is withheld.
 */
export function ContentPanel({ found: { asset }, reload }: ContentProps) {
  const { me } = useDomain();
  return (
    <Panel title="Content">
      {asset.source ? (
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
        <SendContent asset={asset} reload={reload} />
      ) : asset.state === 'pending' ? (
        <StatusIndicator type="pending">The creator has not uploaded the content yet.</StatusIndicator>
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
  const download = useAction(async () => {
    saveContent(await client.getAsset({ id: asset.id }));
  });
  return (
    <SpaceBetween size="s">
      <Button iconName="download" loading={download.isRunning} onClick={() => void download.run()}>
        Download {asset.file_name}
      </Button>
      {!isMine && (
        <Box variant="small">
          The creator, <User of={asset.created_by} />, sees that you read it.
        </Box>
      )}
      <ProblemAlert problem={download.problem} />
    </SpaceBetween>
  );
}

interface SendProps {
  asset: KnownAsset['asset'];
  reload: () => void;
}

function SendContent({ asset, reload }: SendProps) {
  const [file, setFile] = useState<File>();
  const upload = useUpload();
  const fault = fileFault(file);
  useUnsavedWork(file && (upload.hasArrived ? 'open' : 'form'));
  const send = async () => {
    if (file && (await upload.send(asset.id, undefined, file))) reload();
  };
  const maySend = file !== undefined && fault === undefined;
  const retry = upload.problem instanceof OtherContent ? reload : maySend ? () => void send() : undefined;
  const isBusy = ['sending', 'interrupted', 'hashing'].includes(upload.state);
  return (
    <SpaceBetween size="m">
      <FileUpload
        value={file ? [file] : []}
        onChange={({ detail }) => setFile(detail.value[0])}
        fileErrors={[fault ?? null]}
        showFileSize
        i18nStrings={fileUploadTexts}
        constraintText={`The content of ${asset.file_name}, up to 5 GiB.`}
      />
      <UploadProgress upload={upload} asset={asset.file_name} retry={retry} />
      <Button variant="primary" disabled={!maySend} loading={isBusy} onClick={() => void send()}>
        Upload
      </Button>
    </SpaceBetween>
  );
}

/** Lets the user save the content of an asset, which the service returned inline or as a link. */
function saveContent({ asset, download, file_name }: Schemas['Asset']): void {
  // Never the type that was sent with it: a page of it must not open with the console's rights.
  if (!download) return saveFile(file_name, fromBase64(asset ?? '') ?? '', 'application/octet-stream');
  const anchor = document.createElement('a');
  Object.assign(anchor, { download: file_name, href: download.url, rel: 'noreferrer' }).click();
}

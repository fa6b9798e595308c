import { Box, Button, FileUpload, SpaceBetween } from '@cloudscape-design/components';
import type { KnownAsset, Schemas } from 'computation-management-client';
import { fromBase64 } from 'computation-management-formats/bytes';
import { useState } from 'react';
import { useDomain } from '../access/console-context.ts';
import { permissions } from '../access/permissions.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import { useUnsavedWork } from '../routing/unsaved-work.ts';
import { saveFile } from '../show/save-file.ts';
import { StatusIndicator } from '../show/status.tsx';
import { Name } from '../show/visible-texts.tsx';
import { fileFault, fileUploadTexts } from './asset-texts.ts';
import { OtherContent } from './upload-file.ts';
import { UploadProgress, useUpload } from './upload-progress.tsx';
import { Panel } from '../frame/panel.tsx';

interface Props {
  found: KnownAsset;
  reload: () => void;
}

/**
 * Shows the content of an asset: for its creator a form to upload the content, for those who may read it a download, and otherwise that the
 * content is withheld.
 */
export function ContentPanel({ found: { asset }, reload }: Props) {
  const { me } = useDomain();
  return (
    <Panel title="Content">
      {asset.source ? (
        <StatusIndicator type="info">
          The service has no content: the agent fetches it from <Name of={asset.source.url} />.
        </StatusIndicator>
      ) : asset.state === 'pending' && asset.created_by === me.user ? (
        <SendContent asset={asset} reload={reload} />
      ) : asset.state === 'pending' ? (
        <StatusIndicator type="pending">The creator has not uploaded the content yet.</StatusIndicator>
      ) : permissions.readContent(me, asset) ? (
        <ReadContent asset={asset} isMine={asset.created_by === me.user} />
      ) : (
        <StatusIndicator type="info">
          The content is withheld: only its creator, <Name of={asset.created_by} />, may read it. Compare the hash instead.
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
          The creator, <Name of={asset.created_by} />, sees that you read it.
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

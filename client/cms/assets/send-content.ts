import { setTimeout as delay } from 'node:timers/promises';
import type { Schemas } from '../../api-types.ts';
import { CmsError } from '../cms-error.ts';
import type { Connection, Context } from '../context.ts';
import { fileSize } from '../output/file-size.ts';
import { startProgress } from '../output/progress.ts';
import { putFile } from './put-file.ts';
import { repeatTransfer } from './repeat-transfer.ts';
import type { LocalContent } from './upload-asset.ts';

type Asset = Schemas['Asset'];

const pauseInMilliseconds = 250;

/**
 * Sends the content of a pending asset to storage, again if the connection breaks, and waits until the service has hashed it.
 * @returns the ready asset
 * @throws CmsError if storage refuses, or the service computes another hash
 */
export async function sendContent(context: Context, connection: Connection, asset: Asset, content: LocalContent): Promise<Asset> {
  const { terminal } = context;
  const { signal } = terminal;
  const { file, size } = content;
  let upload = asset.upload;
  let total = 0;
  const progress = startProgress(terminal, `Uploading ${asset.file_name}`, size);
  try {
    await repeatTransfer(
      async () => {
        let sent = 0;
        upload ??= (await connection.client.updateAsset({ id: asset.id, body: { asset } })).upload;
        if (!upload) return; // the content has arrived, although the answer was lost
        progress.set(0);
        const onBytes = (count: number) => {
          sent += count;
          total += count;
          progress.set(sent);
        };
        try {
          const { status, body } = await putFile(upload, file, { size, signal, onBytes });
          if (status === 412) return; // an earlier attempt has arrived, although its answer was lost
          if (status === 403) upload = undefined; // the link has expired
          if (status >= 500 || status === 403)
            throw Object.assign(new Error(`Storage answered ${status}.`), { code: 'ECONNREFUSED' });
          if (status >= 300) throw new CmsError(`Storage refused the content with the status ${status}: ${body.slice(0, 300)}`);
        } catch (error) {
          if (error instanceof Error && !(error instanceof CmsError))
            error.message += ` after ${fileSize(sent)} of ${fileSize(size)}`;
          throw error;
        }
      },
      {
        signal,
        progressed: () => total,
        onCut: ({ message }) => context.note(`The upload of ${asset.file_name} was cut off: ${message}. Sending it again.\n`),
      },
    );
  } finally {
    progress.stop();
  }
  const ready = await untilReady(connection, asset.id, signal);
  if (ready.checksum === content.checksum) return ready;
  throw new CmsError(
    `The content of ${asset.file_name} that arrived has the hash ${ready.checksum ?? 'none'}, but the file has ${content.checksum}. Did it change meanwhile?`,
    { next: `cms asset delete ${asset.id} --yes` },
  );
}

async function untilReady({ client }: Connection, id: string, signal: AbortSignal): Promise<Asset> {
  for (;;) {
    const asset = await client.getAsset({ id, signal });
    if (asset.state === 'ready') return asset;
    await delay(pauseInMilliseconds, undefined, { signal });
  }
}

import {
  type Client,
  renewUpload,
  type Schemas,
  sendToStorage,
  ServiceProblem,
  type StorageResponse,
  untilHashed,
} from 'computation-management-client';
import { holdWork } from '../routing/unsaved-work.ts';
import { sizeText } from '../show/texts.ts';

type Target = Schemas['AssetUpload'];

export interface Step {
  state: 'sending' | 'interrupted' | 'hashing';
  /** The number of bytes of the file that have been sent. */
  sent: number;
}

/** Sends a whole file to a presigned link, in one attempt. `onProgress` is called with the number of bytes that have been sent. */
export type PutFile = (
  target: Target,
  file: File,
  options: { signal: AbortSignal; onProgress: (sent: number) => void },
) => Promise<StorageResponse>;

interface UploadOptions {
  /** The identifier of the asset whose content is uploaded. */
  id: string;
  /** The presigned link to which the file is sent. Undefined: a new link is fetched. */
  target: Target | undefined;
  file: File;
  signal: AbortSignal;
  put: PutFile;
  onStep: (step: Step) => void;
}

/**
 * Sends a file to storage, then waits until the service has hashed it. While the file is being sent, the user is asked before the page is
 * left. Hashing needs no page.
 * @throws ServiceProblem, or any other error; the signal's reason
 */
export async function uploadFile(client: Client, { id, target, file, signal, put, onStep }: UploadOptions): Promise<void> {
  let [furthest, sent] = [0, 0];
  const onProgress = (done: number) => {
    sent = done;
    furthest = Math.max(furthest, sent);
    onStep({ state: 'sending', sent });
  };
  const release = holdWork('upload');
  try {
    await sendToStorage(target, {
      signal,
      put: (to) => put(to, file, { signal, onProgress }),
      renew: () => renewUpload(client, { id, signal }),
      furthest: () => furthest,
      onCut: () => onStep({ state: 'interrupted', sent }),
    });
  } finally {
    release();
  }
  onStep({ state: 'hashing', sent: file.size });
  expectSize(await untilHashed(client, { id, size: file.size, signal }), file);
}

/**
 * Checks that a file that the user chose can still be read: browsers refuse to read a file that was changed, moved or deleted since.
 * @throws Error which tells the user what to do
 */
export async function expectReadable(file: Pick<File, 'name' | 'slice'>): Promise<void> {
  const end = file.slice(-1); // is missing in a file that was cut, too
  await end.arrayBuffer().catch((cause: unknown) => {
    throw new Error(`${file.name} has changed or is gone since you chose it. Choose it again.`, { cause });
  });
}

/** The error of an asset that already has the content of another file. The content of the asset stays. */
export class OtherContent extends ServiceProblem {}

/**
 * Checks that the content of an asset that has arrived can be that of the file: an earlier attempt may have sent another file.
 * @throws OtherContent if the size differs
 */
export function expectSize(
  { id, file_name, size }: Pick<Schemas['Asset'], 'id' | 'file_name' | 'size'>,
  file: { name: string; size: number },
): void {
  if (size === file.size) return;
  const detail = `${file_name} has the content of an earlier upload, of ${sizeText(size)}. Create another asset for ${file.name}, of ${sizeText(file.size)}.`;
  throw new OtherContent({ status: 409, code: 'conflict', detail, request: `upload of the asset ${id}` });
}

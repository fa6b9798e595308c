import {
  type Client,
  renewUpload,
  type Schemas,
  sendToStorage,
  type StorageResponse,
  untilHashed,
} from 'computation-management-client';
import { holdWork } from '../shell/unsaved-work.ts';
import { expectSize } from './expect-size.ts';

type Target = Schemas['AssetUpload'];

export interface Step {
  state: 'sending' | 'interrupted' | 'hashing';
  /** The bytes that have been sent. */
  sent: number;
}

interface Options {
  /** The identifier of the asset. */
  id: string;
  /** Default: a new link. */
  target: Target | undefined;
  file: File;
  signal: AbortSignal;
  /** Sends the file once. */
  put: (
    target: Target,
    file: File,
    options: { signal: AbortSignal; onProgress: (sent: number) => void },
  ) => Promise<StorageResponse>;
  onStep: (step: Step) => void;
}

/**
 * Sends a file to storage, then waits until the service has hashed it. The user is asked before the page is left until the file has
 * arrived: what follows needs no page.
 * @throws ServiceProblem, or any other error; the signal's reason
 */
export async function uploadFile(client: Client, { id, target, file, signal, put, onStep }: Options): Promise<void> {
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

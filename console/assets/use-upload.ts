import { useEffect, useRef, useState } from 'react';
import type { Schemas } from '../../client/index.ts';
import { renewUpload } from '../../client/transfer/renew-upload.ts';
import { sendToStorage } from '../../client/transfer/send-to-storage.ts';
import { untilHashed } from '../../client/transfer/until-hashed.ts';
import { useDomain } from '../shell/console-context.ts';
import { holdWork } from '../shell/unsaved-work.ts';
import { putFile } from './put-file.ts';
import { expectSize } from './expect-size.ts';

export interface Upload {
  state: 'idle' | 'sending' | 'interrupted' | 'hashing' | 'done' | 'cancelled' | 'failed';
  file: File | undefined;
  /** Bytes. */
  sent: number;
  problem: unknown;
  cancel: () => void;
  /** Returns whether the content has arrived and is hashed. Without a target, it gets a new link. */
  send: (asset: string, target: Schemas['AssetUpload'] | undefined, file: File) => Promise<boolean>;
}

type Progress = Pick<Upload, 'state' | 'file' | 'sent' | 'problem'>;

const idle: Progress = { state: 'idle', file: undefined, sent: 0, problem: undefined };

/** Sends a file to storage, then waits until the service has hashed it. Leaving the screen cancels the upload. */
export function useUpload(): Upload {
  const { client } = useDomain();
  const [progress, setProgress] = useState(idle);
  const controller = useRef<AbortController>(undefined);
  const cancel = () => controller.current?.abort();
  useEffect(() => () => controller.current?.abort(), []);
  const change = (fields: Partial<Progress>) => setProgress((before) => ({ ...before, ...fields }));
  const send: Upload['send'] = async (id, target, file) => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    setProgress({ ...idle, state: 'sending', file });
    const release = holdWork('upload');
    let furthest = 0;
    const onProgress = (sent: number) => {
      furthest = Math.max(furthest, sent);
      change({ state: 'sending', sent });
    };
    try {
      await sendToStorage(target, {
        signal,
        put: (to) => putFile(to, file, { signal, onProgress }),
        renew: () => renewUpload(client, { id, signal }),
        furthest: () => furthest,
        onCut: () => change({ state: 'interrupted' }),
      });
      change({ state: 'hashing', sent: file.size });
      expectSize(await untilHashed(client, { id, signal }), file);
      change({ state: 'done' });
      return true;
    } catch (problem) {
      change(signal.aborted ? { state: 'cancelled' } : { state: 'failed', problem });
      return false;
    } finally {
      release();
    }
  };
  return { ...progress, cancel, send };
}

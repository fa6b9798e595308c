import type { Schemas } from 'computation-management-client';
import { useEffect, useRef, useState } from 'react';
import { useIsHere } from '../loading/use-is-here.ts';
import { useDomain } from '../shell/console-context.ts';
import { putFile } from './put-file.ts';
import { uploadFile, type Step } from './upload-file.ts';

export interface Upload {
  state: 'idle' | Step['state'] | 'done' | 'cancelled' | 'failed';
  file: File | undefined;
  /** Bytes. */
  sent: number;
  problem: unknown;
  /** Whether the whole file is with the service: what follows needs no page. */
  hasArrived: boolean;
  cancel: () => void;
  /** Returns whether the content has arrived and is hashed. Without a target, it gets a new link. */
  send: (asset: string, target: Schemas['AssetUpload'] | undefined, file: File) => Promise<boolean>;
}

type Progress = Pick<Upload, 'state' | 'file' | 'sent' | 'problem'>;

const idle: Progress = { state: 'idle', file: undefined, sent: 0, problem: undefined };

/** Sends a file to storage, then waits until the service has hashed it. Leaving the screen before the file has arrived cancels the upload. */
export function useUpload(): Upload {
  const { client } = useDomain();
  const [progress, setProgress] = useState(idle);
  const controller = useRef<AbortController>(undefined);
  const cancel = () => controller.current?.abort();
  useEffect(() => () => controller.current?.abort(), []);
  const isHere = useIsHere();
  const change = (fields: Partial<Progress>) => setProgress((before) => ({ ...before, ...fields }));
  const send: Upload['send'] = async (id, target, file) => {
    if (!isHere()) return false; // the user has left while the asset was created
    controller.current = new AbortController();
    const { signal } = controller.current;
    setProgress({ ...idle, state: 'sending', file });
    try {
      await uploadFile(client, { id, target, file, signal, put: putFile, onStep: change });
      change({ state: 'done' });
      return true;
    } catch (problem) {
      change(signal.aborted ? { state: 'cancelled' } : { state: 'failed', problem });
      return false;
    }
  };
  const hasArrived = progress.state === 'hashing' || progress.state === 'done';
  return { ...progress, hasArrived, cancel, send };
}

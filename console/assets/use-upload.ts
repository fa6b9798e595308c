import { useEffect, useRef, useState } from 'react';
import type { Client, Schemas } from '../../client/index.ts';
import { useDomain } from '../shell/console-context.ts';
import { sendContent } from './send-content.ts';

export interface Upload {
  state: 'idle' | 'sending' | 'hashing' | 'done' | 'failed';
  file: File | undefined;
  /** Bytes. */
  sent: number;
  problem: unknown;
  cancel: () => void;
  /** Returns whether the content has arrived and is hashed. */
  send: (asset: string, target: Schemas['AssetUpload'], file: File) => Promise<boolean>;
}

type Progress = Pick<Upload, 'state' | 'file' | 'sent' | 'problem'>;

const idle: Progress = { state: 'idle', file: undefined, sent: 0, problem: undefined };
const pauseInMilliseconds = 1_000;

/** Sends a file to storage, then waits until the service has hashed it. Leaving the screen cancels the upload. */
export function useUpload(): Upload {
  const { client } = useDomain();
  const [progress, setProgress] = useState(idle);
  const controller = useRef<AbortController>(undefined);
  const cancel = () => controller.current?.abort(new Error('The upload was cancelled. Nothing of the file is kept.'));
  useEffect(() => () => controller.current?.abort(new Error('The screen was left.')), []);
  const change = (fields: Partial<Progress>) => setProgress((before) => ({ ...before, ...fields }));
  const send: Upload['send'] = async (asset, target, file) => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    setProgress({ ...idle, state: 'sending', file });
    try {
      await sendContent(target, file, { signal, onProgress: (sent) => change({ sent }) });
      change({ state: 'hashing', sent: file.size });
      await hashed(client, asset, signal);
      change({ state: 'done' });
      return true;
    } catch (problem) {
      change({ state: 'failed', problem });
      return false;
    }
  };
  return { ...progress, cancel, send };
}

/** Waits until the asset has its content. */
async function hashed(client: Client, id: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { state } = await client.getAsset({ id, signal });
    if (state === 'ready') return;
    await new Promise((resolve) => setTimeout(resolve, pauseInMilliseconds));
    signal.throwIfAborted();
  }
}

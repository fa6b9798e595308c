import type { EvidenceFiles, Finding } from 'computation-management-verify';

/** The findings of the verifier of evidence, or the reason why it could not read the evidence. */
export type Judgement = { findings: Finding[] } | { problem: string };

export interface Chosen {
  archive: readonly (Blob | string)[];
  /** The files of public keys that are trusted in place of the keys in the archive. At most one file. */
  keys: readonly Blob[];
  certificates: readonly Blob[];
  roots: readonly Blob[];
}

/** The evidence to check. `roots`: root certificates for tests, trusted in place of those of AMD and Intel. */
export type FilesToJudge = EvidenceFiles & { roots?: readonly Uint8Array[] };

export type ToJudge = Chosen | FilesToJudge;

const mostMegabytes = 64;
const mostSeconds = 60;

/** Runs the verifier of evidence in a worker. Ends the worker after a minute, or when the signal is aborted. Reads at most 64 MB. */
export async function judge(chosen: Chosen, signal: AbortSignal): Promise<Judgement> {
  if (new Blob(Object.values(chosen).flat()).size > mostMegabytes * 1_000_000)
    return { problem: `The files are too large: this page reads up to ${mostMegabytes} MB. Use cms verify.` };
  const worker = new Worker(new URL('./verify-worker.ts', import.meta.url), { type: 'module' });
  const { promise, resolve } = Promise.withResolvers<Judgement>();
  const end = (problem: string) => resolve({ problem });
  const timer = setTimeout(end, mostSeconds * 1_000, `The check took more than ${mostSeconds} seconds. Use cms verify.`);
  signal.addEventListener('abort', () => end('The check was ended.'));
  worker.onmessage = ({ data }: MessageEvent<Judgement>) => resolve(data);
  worker.onerror = (event) => {
    event.preventDefault();
    end('The verifier could not be loaded, or had too little memory for these files. Reload the page.');
  };
  worker.postMessage(chosen);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    worker.terminate();
  }
}

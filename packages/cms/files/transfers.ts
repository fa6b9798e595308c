import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import {
  assetWithoutReading,
  type Cut,
  CutOffError,
  largestUploadInBytes,
  onlyCreatorUploads,
  type Schemas,
  sizeText,
} from 'computation-management-client';
import {
  downloadAsset,
  type DownloadOptions,
  FileChangedError,
  measureFile,
  tooLarge,
  type TransferProgress,
  uploadAsset,
  uploadContent,
  type UploadOptions,
  uploadResult,
  type UploadResultOptions,
} from 'computation-management-client/node';
import { holdsPrivateKey } from 'computation-management-formats/holds-private-key';
import { printable } from 'computation-management-formats/printable';
import { sentence, userText } from 'computation-management-words';
import type { Context, Session } from '../context/context.ts';
import { CmsError, errorOf, UsageError } from '../terminal/cms-error.ts';
import { startProgress } from '../terminal/progress.ts';
import { filesBeside } from './read-file.ts';

type Asset = Schemas['Asset'];

/** The `use` of a new asset whose creator does not choose one: no run uses a dataset without its creator's approval. */
export const usualUse = (type: Asset['asset_type']) => (type === 'dataset' ? 'approval' : 'open');

/** The functions through which a transfer of a file reports how far it has come, and the signal that interrupts it. */
interface Shown {
  onProgress: (progress: TransferProgress) => void;
  onCut: (cut: Cut) => void;
  signal: AbortSignal;
}

/**
 * Uploads a file as an asset, with a bar on a terminal, and a note when the transfer was cut off.
 * @throws CmsError without the file; ServiceProblem
 */
export async function upload(context: Session, given: Omit<UploadOptions, 'onProgress' | 'onCut' | 'signal'>): Promise<Asset> {
  await expectFile(given.file);
  return await shown(context, given.file_name ?? basename(given.file), (options) =>
    uploadAsset(context.client, { ...given, ...options }),
  );
}

/**
 * Uploads a file as the content of an asset of the caller that has none yet, with a bar on a terminal.
 * @throws CmsError without the file, or if the asset is another user's; ServiceProblem
 */
export async function uploadInto(context: Session, id: string, file: string): Promise<Asset> {
  const { client, user } = context;
  await expectFile(file);
  const { created_by, file_name } = (await assetWithoutReading(client, { id, user })).asset;
  if (created_by !== user) {
    const message = printable(`${onlyCreatorUploads({ created_by, file_name })} You are ${userText(user)}.`);
    throw errorOf('forbidden', message, context.command('whoami'));
  }
  const onOtherHash = ({ named, found }: { named: string; found: string }) =>
    context.note(
      `${printable(file_name)} was created with the hash ${printable(named)}, but this file has ${found}. Uploading it as a sample.\n`,
    );
  return await shown(context, basename(file), (options) => uploadContent(client, { id, file, onOtherHash, ...options }));
}

/** Hands in a file as the result of a run, with a bar on a terminal. @throws CmsError without the file; ServiceProblem */
export async function handIn(
  context: Session,
  given: Pick<UploadResultOptions, 'id' | 'run' | 'file' | 'file_name'>,
): Promise<Asset> {
  await expectFile(given.file);
  return await shown(context, given.file_name, (options) => uploadResult(context.client, { ...given, ...options }));
}

/** Hashes a file, with a bar on a terminal. @returns its size, and its SHA3-256 in hex */
export async function measure(context: Context, file: string) {
  return await shown(context, basename(file), (options) => measureFile({ file, ...options }));
}

/** Downloads the content of an asset, with a bar on a terminal. Notes when the transfer was cut off. Throws what `downloadAsset` throws. */
export async function download(context: Session, given: Pick<DownloadOptions, 'id' | 'file' | 'mustBeNew'>): Promise<Asset> {
  return await shown(context, basename(given.file), (options) => downloadAsset(context.client, { ...given, ...options }), 'down');
}

/** The direction of a transfer: up to the service, or down from it. */
type Way = 'up' | 'down';

/** The time after which a note says that the service still hashes an uploaded file. The service hashes most files sooner. */
const silentWaitInMilliseconds = 5_000;

const titles = { hashing: 'Hashing', sending: 'Sending', receiving: 'Receiving' };

async function shown<Result>(
  context: Context,
  given: string,
  transfer: (options: Shown) => Promise<Result>,
  way: Way = 'up',
): Promise<Result> {
  const name = printable(given);
  const bar = startProgress(context.terminal);
  context.outages.noteWith((text) => {
    bar.stop(); // the next progress shows it again
    context.noteWait(text);
  });
  let latest: TransferProgress | undefined;
  const onWaiting = waitingNote(context, name);
  try {
    return await transfer({
      signal: context.terminal.signal,
      onProgress: (progress) => {
        latest = progress;
        if (progress.phase !== 'waiting') {
          bar.show(`${titles[progress.phase]} ${name}`, progress);
          return;
        }
        bar.stop();
        onWaiting();
      },
      onCut: ({ error }) => {
        bar.stop();
        const place = latest ? ` after ${sizeText(latest.done)} of ${sizeText(latest.total)}` : '';
        const next = latest?.phase === 'receiving' ? 'Resuming' : 'Sending it again';
        context.noteWait(`The transfer of ${name} was cut off${place}: ${sentence(printable(error.message))} ${next}.\n`);
      },
    });
  } catch (error) {
    if (error instanceof CutOffError && !context.terminal.signal.aborted) {
      const message = `The transfer of ${name} failed before it was complete: ${sentence(printable(error.message))}`;
      throw errorOf('unavailable', message, context.typed, error);
    }
    if (error instanceof FileChangedError) throw new CmsError(error.message, { next: context.typed, cause: error });
    if (!context.terminal.signal.aborted) throw error;
    const message = `Interrupted. ${name} ${stateOf(latest, way)}.`;
    throw errorOf('interrupted', message, context.typed, error);
  } finally {
    bar.stop();
  }
}

/**
 * Returns how far the transfer of a file had come when it was interrupted, in words. An upload creates nothing before the file is hashed.
 */
function stateOf(latest: TransferProgress | undefined, way: Way): string {
  if (latest?.phase === 'waiting') return 'has arrived, but the service has not hashed it yet';
  const isHashing = latest?.phase === 'hashing' && latest.done < latest.total;
  return isHashing && way === 'up' ? 'was still being hashed: nothing of it was sent' : 'is not complete';
}

/** Returns a function to call while the service hashes an uploaded file. The function notes once that hashing takes a while. */
function waitingNote({ terminal, noteWait }: Context, name: string): () => void {
  let startedAt: number | undefined;
  let isNoted = false;
  return () => {
    startedAt ??= terminal.now();
    if (isNoted || terminal.now() - startedAt < silentWaitInMilliseconds) return;
    isNoted = true;
    noteWait(`${name} has arrived. Waiting until the service has hashed it.\n`);
  };
}

/**
 * Checks that a file can be uploaded.
 * @returns the size of the file in bytes
 * @throws CmsError if the file is missing, too large, or a private key
 */
export async function expectFile(file: string): Promise<number> {
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() === true) {
    const { size } = found;
    const isKey = size <= largestKeyInBytes && isPrivateKey(await readFile(file));
    if (size <= largestUploadInBytes && !isKey) return size;
    const message = isKey ? `${JSON.stringify(file)} is a private key, which is never content.` : tooLarge(file, size);
    throw new UsageError(message);
  }
  const name = JSON.stringify(file);
  const message = found ? `${name} is not a file.` : `There is no file ${name}.`;
  throw new UsageError(message, filesBeside(file));
}

/** The size in bytes of the largest file that is looked through for a private key before its upload. */
const largestKeyInBytes = 64 * 1024;

/** Returns whether the content of a file is a private key, by the rules of the service, also in UTF-16. */
function isPrivateKey(content: Buffer): boolean {
  const text = content.toString('latin1');
  return holdsPrivateKey(text) || holdsPrivateKey(text.replaceAll('\0', ''));
}

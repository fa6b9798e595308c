import type { Schemas } from '../generated/api-types.ts';

/**
 * Returns the attestation tokens of a run that its evidence names by their hashes. What the service has besides, such as tokens of which
 * none was verified, is not part of the evidence.
 */
export const tokensOfEvidence = ({ statement }: Schemas['Evidence'], { tokens }: Schemas['AttestationOfRun']) =>
  tokens.filter(({ hash }) => statement.attestation?.tokens.some((token) => token.hash === hash));

const largestInBytes = 1024 * 1024;
const longestInMilliseconds = 60_000;

/**
 * Fetches the content of an attestation token from the storage of the service.
 * @throws Error if storage refuses, or if it sends more than 1 MiB or for longer than a minute
 */
export async function fetchToken(
  { download }: Pick<Schemas['AttestationToken'], 'download'>,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const signals = [AbortSignal.timeout(longestInMilliseconds), ...(signal ? [signal] : [])];
  const { ok, status, body } = await fetch(download.url, { signal: AbortSignal.any(signals) });
  const reader = (body as ReadableStream<Uint8Array<ArrayBuffer>> | null)?.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (let part = await reader?.read(); ok && size <= largestInBytes && part?.value; part = await reader?.read()) {
    parts.push(part.value);
    size += part.value.length;
  }
  await reader?.cancel();
  if (!ok) throw new Error(`An attestation token could not be read: storage answered ${status}.`);
  if (size > largestInBytes) throw new Error('An attestation token could not be read: it is larger than 1 MiB.');
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

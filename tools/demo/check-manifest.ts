import type { Schemas } from 'computation-management-client';
import type { Cast } from './cast.ts';
import { ensure } from './ensure.ts';
import type { InputFile } from './input-file.ts';
import type { Inputs } from './prepare.ts';
import type { Timeline } from './timeline.ts';

/** Checks that the CVM's manifest contains the hashes of these files. */
export async function checkManifest(
  { step }: Timeline,
  { consumer }: Cast,
  { computationId, runId }: { computationId: string; runId: string },
  { algorithm, dataset }: Inputs,
): Promise<void> {
  let manifest: Schemas['Manifest'] | undefined;
  await step('consumer', 'downloads the manifest of the run', async () => {
    manifest = await consumer.getManifest({ id: computationId, run: runId });
    return `algorithm, datasets: ${manifest.datasets.length}, result consumers: ${manifest.result_consumers.length}`;
  });
  const compare = ({ name, sha3 }: InputFile, hash: number[] | undefined) =>
    step('consumer', `hashes ${name}`, async () => {
      ensure(sha3.equals(Buffer.from(hash ?? [])), `the manifest has another hash for ${name}`);
      return `SHA3-256 ${sha3.toString('hex').slice(0, 16)}…, as in the manifest`;
    });
  await compare(algorithm, manifest?.algorithm.hash);
  await compare(dataset, manifest?.datasets.find(({ filename }) => filename === dataset.name)?.hash);
}

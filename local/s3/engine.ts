import { buildApp, type BuildAppOptions } from 'fauxqs';
import { join } from 'node:path';
import { ObjectFiles, type S3Store } from './object-files.ts';

type Stores = NonNullable<BuildAppOptions['stores']>;

export interface S3Engine {
  endpoint: string;
  stop: () => Promise<void>;
}

/**
 * Starts fauxqs on the loopback interface, on files under `dataDirectory` if given. It checks no credentials, so it must not be
 * reachable from other machines: its own `startFauxqs` would listen on every interface.
 */
export async function startS3Engine(dataDirectory: string | undefined): Promise<S3Engine> {
  const stores = dataDirectory === undefined ? undefined : ({ s3Store: await storeOnFiles(join(dataDirectory, 's3')) } as Stores);
  const app = buildApp({ logger: false, ...(stores ? { stores } : {}) });
  const endpoint = await app.listen({ port: 0, host: '127.0.0.1' });
  return { endpoint, stop: () => app.close() };
}

/** Imports the store from its file, because the package does not export it. */
async function storeOnFiles(directory: string): Promise<S3Store> {
  const module = new URL('s3/s3Store.js', import.meta.resolve('fauxqs')).href;
  const { S3Store } = (await import(/* @vite-ignore */ module)) as { S3Store: new () => S3Store };
  const files = new ObjectFiles(directory);
  const store = new S3Store();
  files.loadS3(store);
  return Object.assign(store, { persistence: files });
}

import { buildApp, type BuildAppOptions } from 'fauxqs';
import { join } from 'node:path';

type Stores = NonNullable<BuildAppOptions['stores']>;
type S3Store = Stores['s3Store'];

export interface S3Engine {
  endpoint: string;
  stop: () => Promise<void>;
}

/**
 * Starts fauxqs on the loopback interface, on files under `dataDirectory` if given. It asks nobody for a token, so it must not
 * be reachable from elsewhere: its own `startFauxqs` would listen on every interface.
 */
export async function startS3Engine(dataDirectory: string | undefined): Promise<S3Engine> {
  const stores = dataDirectory === undefined ? undefined : ({ s3Store: await storeOnFiles(join(dataDirectory, 's3')) } as Stores);
  const app = buildApp({ logger: false, ...(stores ? { stores } : {}) });
  const endpoint = await app.listen({ port: 0, host: '127.0.0.1' });
  return { endpoint, stop: () => app.close() };
}

/** What `startFauxqs({ s3StorageDir })` does; the package exports neither class. */
async function storeOnFiles(directory: string): Promise<S3Store> {
  const { S3Store } = await internal<{ S3Store: new () => S3Store }>('s3/s3Store.js');
  const { FileS3Persistence } = await internal<{ FileS3Persistence: new (directory: string) => FilePersistence }>(
    's3/fileS3Persistence.js',
  );
  const files = new FileS3Persistence(directory);
  const store = new S3Store();
  files.loadS3(store);
  return Object.assign(store, { persistence: files });
}

type FilePersistence = NonNullable<S3Store['persistence']> & { loadS3: (store: S3Store) => void };

async function internal<Module>(file: string): Promise<Module> {
  return (await import(/* @vite-ignore */ new URL(file, import.meta.resolve('fauxqs')).href)) as Module;
}

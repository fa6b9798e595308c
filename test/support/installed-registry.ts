import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

const repository = join(import.meta.dirname, '../..');

/**
 * Starts a registry of npm with the packages that are installed in this repository, so that `npm install` in another folder needs no
 * network. Returns the variables with which npm uses it.
 */
export async function startInstalledRegistry(): Promise<{ env: Record<string, string>; stop: () => void }> {
  const lock = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as { packages: Record<string, object> };
  const foldersOf = (name: string) => Object.keys(lock.packages).filter((folder) => folder.endsWith(`node_modules/${name}`));
  let url = '';
  const server = createServer(({ url: path = '' }, response) => {
    const [, folder] = /^\/tarballs\/(.+)$/.exec(path) ?? [];
    if (folder !== undefined) {
      const place = join(repository, folder);
      spawn('tar', ['-c', '--exclude=*/node_modules', '-C', dirname(place), basename(place)]).stdout.pipe(response);
      return;
    }
    const name = decodeURIComponent(path.slice(1));
    const versions = foldersOf(name).map((each) => {
      const manifest = JSON.parse(readFileSync(join(repository, each, 'package.json'), 'utf8')) as { version: string };
      return [manifest.version, { ...manifest, dist: { tarball: `${url}/tarballs/${each}` } }] as const;
    });
    const [latest] = versions[0] ?? [];
    response.statusCode = latest === undefined ? 404 : 200;
    response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(versions) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cache = mkdtempSync(join(tmpdir(), 'npm-cache-'));
  return {
    env: { npm_config_registry: url, npm_config_cache: cache },
    stop: () => {
      server.close();
      rmSync(cache, { recursive: true });
    },
  };
}

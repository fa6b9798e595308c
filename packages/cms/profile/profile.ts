import { randomUUID } from 'node:crypto';
import { mkdir, readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { pause } from 'computation-management-client';
import * as v from 'valibot';
import { shellWord } from 'computation-management-words';
import { CmsError } from '../terminal/cms-error.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The ways in which a profile gets its tokens. */
const credentials = v.variant('kind', [
  v.object({ kind: v.literal('local'), user: v.string(), roles: v.array(v.string()) }),
  v.object({ kind: v.literal('token') }),
  v.object({
    kind: v.literal('issuer'),
    issuer: v.string(),
    client_id: v.string(),
    scope: v.exactOptional(v.string()),
    /** True if the user logged in with a code on another device instead of a browser on this machine. */
    device: v.exactOptional(v.boolean()),
    /** The local port to which the browser came back from the login. */
    port: v.exactOptional(v.number()),
    refresh_token: v.exactOptional(v.string()),
  }),
  /** A program that signs in as itself. Its secret is in CMS_CLIENT_SECRET and never stored. */
  v.object({ kind: v.literal('program'), issuer: v.string(), client_id: v.string(), scope: v.exactOptional(v.string()) }),
]);
/** The way in which a profile gets its tokens. */
export type Credentials = v.InferOutput<typeof credentials>;

/** The schema of a stored login: the service, the domain, the user and the token. */
const profileSchema = v.object({
  server: v.string(),
  domain: v.string(),
  user: v.string(),
  /** The default computation, on which commands that name none act. */
  computation: v.exactOptional(v.string()),
  /**
   * The approvals that the user gave on this machine, by computation. They are stored here because the service could name other digests
   * later.
   */
  approved: v.exactOptional(
    v.record(
      v.string(),
      v.object({
        manifest_digest: v.string(),
        configuration_digest: v.string(),
        cvm_ids: v.exactOptional(v.array(v.string())),
        expires_at: v.exactOptional(v.string()),
      }),
    ),
  ),
  credentials,
  access_token: v.string(),
  /** The time at which the token expires, in seconds since 1970 by the clock of this machine. */
  expires_at: v.number(),
});
/** A login of `cms`, as it is stored. */
export type Profile = v.InferOutput<typeof profileSchema>;

const configFile = v.object({ profiles: recordOf(v.string(), profileSchema, 'Expected profiles by name.') });

/** The profiles in `$XDG_CONFIG_HOME/cms/config.json`, which only the user can read. */
export interface Profiles {
  file: string;
  read: (name: string) => Promise<Profile | undefined>;
  /**
   * Replaces a profile by what `next` makes of it, or removes the profile if that is undefined. Holds a lock, so that other commands change
   * the profile before or after.
   */
  change: (name: string, next: (before: Profile | undefined) => Profile | undefined) => Promise<void>;
}

/** Opens the profiles of a user. */
export function openProfiles({ env, home }: Pick<Terminal, 'env' | 'home'>): Profiles {
  const folder = [env['XDG_CONFIG_HOME'] ?? '', join(home, '.config')].find((path) => isAbsolute(path)) ?? '';
  const file = join(folder, 'cms', 'config.json');
  const readAll = async () => {
    if (folder !== '') return new Map(Object.entries(await readFrom(file))); // also of a name such as `constructor`
    const message = 'There is no place for logins: neither HOME nor XDG_CONFIG_HOME is an absolute path.';
    throw new CmsError(message, { next: 'export HOME=DIRECTORY' });
  };
  return {
    file,
    read: async (name) => (await readAll()).get(name),
    change: async (name, next) => {
      await readAll();
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await locked(`${file}.lock`, async () => {
        const profiles = await readAll();
        const before = profiles.get(name);
        const after = next(before);
        if (after === before) return;
        if (after === undefined) profiles.delete(name);
        else profiles.set(name, after);
        await writeTo(file, Object.fromEntries(profiles));
      });
    },
  };
}

const pauseInMilliseconds = 20;
/**
 * The age at which the lock of the profiles is removed: a change takes a few milliseconds, so an older lock is that of a command that was
 * killed.
 */
const longestChangeInMilliseconds = 5_000;

/** Does work while holding a lock, so that no other command does the same work at the same time. */
async function locked(lock: string, work: () => Promise<void>): Promise<void> {
  while (!(await isMade(lock))) {
    const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Infinity }));
    if (Date.now() - mtimeMs > longestChangeInMilliseconds) await rm(lock, { recursive: true, force: true });
    else await pause(pauseInMilliseconds);
  }
  try {
    await work();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

async function isMade(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function readFrom(file: string): Promise<Record<string, Profile>> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), configFile), text);
  if (parsed.success) return parsed.output.profiles;
  throw new CmsError(`The file ${file} is damaged: ${parsed.issues[0].message}`, { next: `rm ${shellWord(file)}` });
}

/** Replaces the file of the profiles in one step, so that an interrupted command leaves the file whole. Follows symbolic links. */
async function writeTo(link: string, profiles: Record<string, Profile>): Promise<void> {
  const target = await readlink(link).catch(() => undefined);
  if (target !== undefined) {
    await writeTo(resolve(dirname(link), target), profiles);
    return;
  }
  const temporary = `${link}.${randomUUID()}`;
  try {
    await writeFile(temporary, `${JSON.stringify({ profiles }, null, 2)}\n`, { mode: 0o600 });
    await rename(temporary, link);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Returns a schema of objects with any keys. Unlike `v.record`, it keeps keys such as `constructor`. */
export function recordOf<Key extends v.GenericSchema<string>, Value extends v.GenericSchema>(
  key: Key,
  value: Value,
  message: string,
) {
  return v.pipe(
    v.custom<Record<string, unknown>>((given) => typeof given === 'object' && given !== null && !Array.isArray(given), message),
    v.transform((given) => new Map(Object.entries(given))),
    v.map(key, value),
    v.transform((map): Record<string, v.InferOutput<Value>> => Object.fromEntries(map)),
  );
}

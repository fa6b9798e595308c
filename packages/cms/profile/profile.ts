import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readlink, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { pause } from 'computation-management-client';
import type { Configuration } from 'computation-management-formats/consent';
import { attestationPolicy } from 'computation-management-formats/attestation';
import * as v from 'valibot';
import { shellWord } from 'computation-management-words';
import { CmsError, codeOf, errorOf } from '../terminal/cms-error.ts';
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
        max_runs: v.exactOptional(v.number()),
        approval_id: v.exactOptional(v.string()),
        /** The configuration that the user read. Absent in approvals of earlier times, by which no broker releases a key. */
        configuration: v.exactOptional(v.custom<Configuration>((value) => typeof value === 'object' && value !== null)),
        /** The users whose approval the computation demanded too. */
        needed: v.exactOptional(v.array(v.string())),
        /** The public key that signed, base64 of DER. */
        key: v.exactOptional(v.string()),
      }),
    ),
  ),
  /** The keys of encrypted files that `cms broker` may release, by asset. They are stored here so that the service has no say in them. */
  keys: v.exactOptional(
    v.record(
      v.string(),
      v.object({
        /** The absolute path of the file of the key. */
        file: v.string(),
        /** The SHA3-256 of the plain file, in hex. */
        checksum: v.string(),
        /** The machines that may get the key, beside those that the computation allows. */
        release_policy: v.nullable(attestationPolicy),
      }),
    ),
  ),
  /** The thumbprint of the evidence key of the service, which this user has trusted since the first use. */
  evidence_key: v.exactOptional(v.string()),
  credentials,
  access_token: v.string(),
  /** The time at which the token expires, in seconds since 1970 by the clock of this machine. */
  expires_at: v.number(),
});
/** A login of `cms`, as it is stored. */
export type Profile = v.InferOutput<typeof profileSchema>;

/** The profiles in `$XDG_CONFIG_HOME/cms/config.json`, which only the user can read. */
export interface Profiles {
  file: string;
  read: (name: string) => Promise<Profile | undefined>;
  /**
   * Replaces a profile by what `next` makes of it, or removes the profile if that is undefined. Holds a lock, so that other commands change
   * the profile before or after.
   */
  change: (name: string, next: (before: Profile | undefined) => Profile | undefined) => Promise<void>;
  /** Renews the token of a profile while no other command does. Waits up to a minute for another command, until the signal. */
  renewing: <Result>(name: string, renew: () => Promise<Result>, signal: AbortSignal) => Promise<Result>;
}

/** Opens the profiles of a user. */
export function openProfiles({ env, home }: Pick<Terminal, 'env' | 'home'>): Profiles {
  const folder = [env['XDG_CONFIG_HOME'] ?? '', join(home, '.config')].find((path) => isAbsolute(path)) ?? '';
  const file = join(folder, 'cms', 'config.json');
  const stored = keptFile(file, 'profiles', profileSchema);
  const expectFolder = () => {
    if (folder !== '') return;
    const message = 'There is no place for logins: neither HOME nor XDG_CONFIG_HOME is an absolute path.';
    throw new CmsError(message, { next: 'export HOME=DIRECTORY' });
  };
  return {
    file,
    read: async (name) => {
      expectFolder();
      return (await stored.read()).get(name);
    },
    change: async (name, next) => {
      expectFolder();
      await stored.change((profiles) => {
        const before = profiles.get(name);
        const after = next(before);
        if (after === undefined) profiles.delete(name);
        else profiles.set(name, after);
        return after !== before;
      });
    },
    renewing: async (name, renew, signal) => {
      const lock = `${file}.${createHash('sha256').update(name).digest('hex').slice(0, 16)}.lock`;
      return await locked(lock, renew, { longestWait: longestRenewalInMilliseconds, signal });
    },
  };
}

/** The time of two requests to an issuer, of 30 s each. */
const longestRenewalInMilliseconds = 60_000;
const pauseInMilliseconds = 20;
const beatInMilliseconds = 1_000;
/** The time after which a lock whose holder did not touch it is that of a command that was killed, by the clock that only runs forward. */
const longestSilenceInMilliseconds = 5_000;
const longestWaitInMilliseconds = 10_000;

/**
 * Does work while holding a lock, so that no other command does the same work at the same time. The holder touches the lock every second.
 * @param longestWait in milliseconds. Default: 10 s
 * @throws CmsError with the path of the lock if others hold it for longer; the signal's reason
 */
export async function locked<Result>(
  lock: string,
  work: () => Promise<Result>,
  { longestWait = longestWaitInMilliseconds, signal }: { longestWait?: number; signal?: AbortSignal } = {},
): Promise<Result> {
  const startedAt = performance.now();
  let [seen, seenAt] = [NaN, startedAt];
  const isThere = (error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
    return true;
  };
  while (await mkdir(lock).then(() => false, isThere)) {
    const now = performance.now();
    const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: NaN }));
    if (mtimeMs !== seen) [seen, seenAt] = [mtimeMs, now];
    if (now - seenAt > longestSilenceInMilliseconds) await removeSilent(lock, seen);
    else if (now - startedAt > longestWait) {
      const message = `Another command holds ${lock} for more than ${Math.round(longestWait / 1_000)} s.`;
      throw errorOf('unavailable', message, `rm -r ${shellWord(lock)}`);
    } else await pause(pauseInMilliseconds, signal);
  }
  const beat = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => undefined), beatInMilliseconds);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    await rm(lock, { recursive: true, force: true });
  }
}

/** Removes the lock of a command that was killed. Puts it back if another command has just removed that one and made its own. */
async function removeSilent(lock: string, mtimeMs: number): Promise<void> {
  const aside = `${lock}.${randomUUID()}`;
  try {
    await rename(lock, aside);
    if ((await stat(aside)).mtimeMs === mtimeMs) await rm(aside, { recursive: true, force: true });
    else await rename(aside, lock);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** A file of JSON beside the logins, whose entries by name several commands read and change. */
interface KeptFile<Entry> {
  read: () => Promise<Map<string, Entry>>;
  /** Changes the entries: `make` does it, and returns whether there is a change to store. Holds a lock, so that others change them before or after. */
  change: (make: (entries: Map<string, Entry>) => boolean) => Promise<void>;
}

/**
 * Returns what reads and changes a file of JSON `{[member]: {name: entry}}`, which only the user can read.
 * @throws CmsError for a file with something else. The command to type next keeps it under another name
 */
export function keptFile<Entry>(file: string, member: string, entry: v.GenericSchema<unknown, Entry>): KeptFile<Entry> {
  const entries = recordOf(v.string(), entry, `Expected ${member} by name.`);
  const schema = v.pipe(v.string(), v.parseJson(), v.object({ [member]: entries }));
  const read = async () => {
    const content = await readFile(file).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
    });
    if (!content) return new Map<string, Entry>();
    const parsed = v.safeParse(schema, new TextDecoder().decode(content));
    if (parsed.success) return new Map(Object.entries(parsed.output[member] ?? {})); // also of a name such as `constructor`
    let aside = `${file}.damaged`;
    for (let number = 2; existsSync(aside); number += 1) aside = `${file}.damaged-${number}`;
    const next = `mv ${shellWord(file)} ${shellWord(aside)}`;
    throw new CmsError(`The file ${file} is damaged: ${parsed.issues[0].message}`, { next });
  };
  const change: KeptFile<Entry>['change'] = async (make) => {
    await read(); // a damaged file is told before anything is made
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await locked(`${file}.lock`, async () => {
      const all = await read();
      if (make(all)) await writeTo(file, { [member]: Object.fromEntries(all) });
    });
  };
  return { read, change };
}

/** Replaces a file of JSON in one step, so that an interrupted command leaves the file whole. Follows symbolic links. */
async function writeTo(link: string, content: object): Promise<void> {
  const target = await readlink(link).catch(() => undefined);
  if (target !== undefined) {
    await writeTo(resolve(dirname(link), target), content);
    return;
  }
  const temporary = `${link}.${randomUUID()}`;
  try {
    await writeFile(temporary, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
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

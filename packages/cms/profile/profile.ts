import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { CmsError } from '../terminal/cms-error.ts';
import { shellWord } from '../terminal/shell-word.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** How a profile gets its tokens. */
const credentials = v.variant('kind', [
  v.object({ kind: v.literal('local'), user: v.string(), roles: v.array(v.string()) }),
  v.object({ kind: v.literal('token') }),
  v.object({
    kind: v.literal('issuer'),
    issuer: v.string(),
    client_id: v.string(),
    scope: v.exactOptional(v.string()),
    /** How the user logged in: with a code on another device, or with a browser that came back to this port. */
    device: v.exactOptional(v.boolean()),
    port: v.exactOptional(v.number()),
    refresh_token: v.exactOptional(v.string()),
  }),
  /** A program that signs in as itself. Its secret is in CMS_CLIENT_SECRET and never stored. */
  v.object({
    kind: v.literal('program'),
    issuer: v.string(),
    client_id: v.string(),
    scope: v.exactOptional(v.string()),
  }),
]);
export type Credentials = v.InferOutput<typeof credentials>;

/** Where `cms` works, and as whom. */
const profileSchema = v.object({
  server: v.string(),
  domain: v.string(),
  user: v.string(),
  /** The computation of commands that name none. */
  computation: v.exactOptional(v.string()),
  credentials,
  access_token: v.string(),
  /** Unix seconds. */
  expires_at: v.number(),
});
export type Profile = v.InferOutput<typeof profileSchema>;

const configFile = v.object({ profiles: recordOf(v.string(), profileSchema, 'Expected profiles by name.') });

/** The profiles in `$XDG_CONFIG_HOME/cms/config.json`, which only the user can read. */
export interface Profiles {
  file: string;
  read: (name: string) => Promise<Profile | undefined>;
  write: (name: string, profile: Profile) => Promise<void>;
  remove: (name: string) => Promise<boolean>;
}

export function openProfiles({ env, home }: Pick<Terminal, 'env' | 'home'>): Profiles {
  const file = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'cms', 'config.json');
  return {
    file,
    read: async (name) => new Map(Object.entries(await readAll(file))).get(name), // also of a name such as `constructor`
    write: async (name, profile) => writeAll(file, { ...(await readAll(file)), [name]: profile }),
    remove: async (name) => {
      const profiles = new Map(Object.entries(await readAll(file)));
      const isRemoved = profiles.delete(name);
      if (isRemoved) await writeAll(file, Object.fromEntries(profiles));
      return isRemoved;
    },
  };
}

async function readAll(file: string): Promise<Record<string, Profile>> {
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

/** Replaces the file in one step, so that a command that is interrupted leaves it whole. */
async function writeAll(file: string, profiles: Record<string, Profile>): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomUUID()}`;
  try {
    await writeFile(temporary, `${JSON.stringify({ profiles }, null, 2)}\n`, { mode: 0o600 });
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** An object with any names as keys. Unlike `v.record`, it keeps those of members of every object, such as `constructor`. */
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

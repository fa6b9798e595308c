import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readLog } from 'computation-management-client';
import { followLog, LogAlarm, type SeenLog, withTags } from 'computation-management-verify';
import { shellWord } from 'computation-management-words';
import * as v from 'valibot';
import type { Context } from '../context/context.ts';
import { keptFile } from '../profile/profile.ts';
import { type CmsError, errorOf } from '../terminal/cms-error.ts';
import { noting } from '../terminal/progress.ts';

const pin = v.object({
  origin: v.string(),
  vkey: v.string(),
  checkpoint: v.string(),
  /** The number of entries in which `cms log check` has looked for second entries of the tags. */
  checked: v.number(),
  /** The tags of the runs that are known here, in hex, with the index of the entry of each. Null for a tag without an entry so far. */
  tags: v.record(v.string(), v.nullable(v.number())),
});
/** A log as this machine has seen it: its newest checkpoint, and the entries that `cms` knows. */
export type Pin = v.InferOutput<typeof pin>;

const fileOf = ({ profiles }: Context) => join(dirname(profiles.file), 'logs.json');

const keptLogs = (context: Context) => keptFile(fileOf(context), 'logs', pin);

/** Returns the logs that this machine has seen, by the address of the service. */
export const readPins = (context: Context): Promise<Map<string, Pin>> => keptLogs(context).read();

/** Contact with the log of a service: what was seen of it, and functions that read it. */
export interface Contact {
  server: string;
  /** The log as evidence or another party shows it. */
  shown: readonly SeenLog[];
  /** The tags of runs, with the index of the entry of each that is known. A tag may occur several times. */
  tags?: readonly (readonly [tag: string, index: number | null])[];
}

/** Returns a function that reads the tiles of a service's log. */
export const tilesOf = (server: string, signal?: AbortSignal) => (path: string) => readLog(path, { baseUrl: server, signal });

/**
 * Checks that the log of a service continues what this machine has seen of it, and keeps its newest checkpoint. The first log of a service
 * that is seen is believed. A service on this machine may begin another log, as `npm start` without `--data` does.
 * @returns the log as it is kept now. Undefined if none is shown, and none was seen before or a service on this machine has begun another
 * @throws CmsError if the log shows two histories. Both checkpoints are saved then
 */
export async function followService(context: Context, contact: Contact): Promise<Pin | undefined> {
  return await noting(context.noteWait, 'Waiting for the log of the service.\n', () => follow(context, contact));
}

async function follow(context: Context, { server, shown, tags = [] }: Contact): Promise<Pin | undefined> {
  const { isLocal } = await context.target();
  const { signal } = context.terminal;
  for (;;) {
    const kept = (await readPins(context)).get(server);
    const published = new TextDecoder().decode(await readLog('checkpoint', { baseUrl: server, signal }));
    const named = shown.length > 0 ? shown.map(({ origin }) => origin) : published.split('\n', 1);
    const isAnew = isLocal && named.some((origin) => origin !== kept?.origin);
    const before = isAnew ? undefined : kept;
    const [first, ...others] = before ? [before, ...shown] : shown;
    if (!first) return undefined;
    const { checked = 0, tags: known = {} } = before ?? {};
    const checkpoints = [...[first, ...others].map(({ checkpoint }) => checkpoint), published];
    const follows = async () => {
      const seen = await followLog([first, ...others], published, tilesOf(server, signal));
      return { ...seen, tags: withTags(seen, known, tags, checkpoints) };
    };
    const seen = await follows().catch(async (error: unknown) => {
      throw error instanceof LogAlarm ? await saveAlarm(context, server, error) : error;
    });
    const isNew = tags.some(([tag]) => !(tag in known));
    const next = { ...seen, checked: isNew ? 0 : checked };
    if (await replacePin(context, server, kept, next)) return next;
  }
}

/** Replaces what is kept of a service's log. Returns false if another command has replaced it meanwhile. */
export async function replacePin(context: Context, server: string, before: Pin | undefined, next: Pin): Promise<boolean> {
  let isReplaced = false;
  await keptLogs(context).change((pins) => {
    isReplaced = isDeepStrictEqual(pins.get(server), before);
    if (isReplaced) pins.set(server, next);
    return isReplaced;
  });
  return isReplaced;
}

/** Saves the checkpoints of an alarm beside the profiles, and returns the error that names the file. */
export async function saveAlarm(context: Context, server: string, { message, checkpoints }: LogAlarm): Promise<CmsError> {
  const at = new Date(context.terminal.now()).toISOString();
  const file = join(dirname(fileOf(context)), `log-alarm-${at.replaceAll(':', '')}.txt`);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, [`${at} ${server}\n${message}\n`, ...checkpoints].join('\n'));
  const advice = 'Do not rely on this service. Show the file to the other parties.';
  return errorOf('twoHistories', `ALARM: ${message}\nThe checkpoints are saved in ${file}. ${advice}`, `cat ${shellWord(file)}`);
}

import type { Connection } from '../connection.ts';
import type { GivenKey } from '../keys/read-public-key.ts';
import { detailsOf } from '../output/event-line.ts';
import type { Step } from './step.ts';

/** Uploads the public key of the caller, unless it is the one that the computation has. */
export async function syncKey(
  { client, user }: Connection,
  id: string,
  { planned, key, fingerprint }: GivenKey & { planned: string },
): Promise<Step> {
  const done = (outcome: string): Step => ({ subject: 'key', name: planned, outcome });
  const { events } = await client.listEvents({ id, event_type: 'key_uploaded', originator: user, limit: 1 });
  const [latest] = events;
  if (latest && detailsOf(latest)['fingerprint'] === fingerprint) return done('unchanged');
  await client.uploadKey({ id, body: { key } });
  return done(latest ? 'uploaded; replaces the previous key' : 'uploaded');
}

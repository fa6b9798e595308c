import { parsePublicKey } from '../../../shared/keys/public-key.ts';
import { InvalidKeyError } from '../../../shared/keys/invalid-key-error.ts';
import { CmsError } from '../cms-error.ts';
import type { Connection } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { readPublicKey } from '../keys/read-public-key.ts';
import { detailsOf } from '../output/event-line.ts';
import type { Step } from './step.ts';

/** Uploads the public key of the caller, unless it is the one that the computation has. */
export async function settleKey(
  { client, user }: Connection,
  id: string,
  { planned, file }: { planned: string; file: string },
): Promise<Step> {
  const key = await readPublicKey(file);
  const done = (outcome: string): Step => ({ subject: 'key', name: planned, outcome });
  const { fingerprint } = parsed(key, file);
  const { events } = await client.listEvents({ id, event_type: 'key_uploaded', originator: user, limit: 1 });
  const [latest] = events;
  if (latest && detailsOf(latest)['fingerprint'] === fingerprint) return done('unchanged');
  await client.uploadKey({ id, body: { key } });
  return done(latest ? 'uploaded in place of the one before' : 'uploaded');
}

function parsed(key: string, file: string) {
  try {
    return parsePublicKey(key);
  } catch (error) {
    if (!(error instanceof InvalidKeyError)) throw error;
    throw new CmsError(`${file}: ${error.message}`, { exitCode: exitCodes.usage });
  }
}

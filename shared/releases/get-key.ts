import { readToken, sealForTee } from 'computation-management-key-release';
import { plainName, quotedText } from 'computation-management-formats/quoted-name';
import type { JsonWebKey } from 'node:crypto';
import type * as v from 'valibot';
import { readPublishedKeys } from '../evidence/index.ts';
import type { Wait } from '../http/wait.ts';
import { type KeyOfRun, readKeyedRuns } from '../rows/asset-key.ts';
import { readSession } from '../rows/key-session.ts';
import { openKey } from '../rows/sealed-key.ts';
import type { Kms } from '../runtime/clients.ts';
import { type Clock, steadyTimeOf, timestampOf } from '../runtime/deadline.ts';
import { ServiceError } from '../runtime/errors.ts';
import type { Table } from '../table/table.ts';
import { askAgent } from './ask-agent.ts';
import { askBroker, type jwe } from './broker.ts';
import { runOfGuest } from './find-run.ts';
import { attestAgain, byProtocol, refused } from './refusals.ts';
import { checkRelease, type KeyRequest, refuseKey, releaseKey } from './release-key.ts';

interface Getting {
  domain: string;
  asset: string;
  /** The bearer token of the client. Undefined: the cookie opens the session. */
  token: string | undefined;
  /** The value of the client's cookie. */
  cookie: string | undefined;
  now: string;
}

type SealedKey = v.InferOutput<typeof jwe>;

/**
 * Releases the key of an asset to the guest of a run, sealed for the key of its TEE. Asks the broker of the party that holds the key, if one does.
 * @param newWait begins the wait for a broker
 * @throws ServiceError `unauthenticated` if the guest must attest again; `forbidden` with the reason
 */
export async function getKey(
  table: Table,
  kms: Kms,
  { domain, asset, token, cookie, now }: Getting,
  { clock, newWait }: { clock: Clock; newWait: () => Wait },
): Promise<SealedKey> {
  const opened =
    token === undefined
      ? cookie
      : await byProtocol(async () =>
          readToken(token, { keys: await readPublishedKeys(kms), audience: domain, now: new Date(now) }),
        );
  if (opened === undefined) throw attestAgain('There is neither a token nor a session. Attest first.');
  const session = await readSession(table, domain, opened, now);
  if (!session) throw attestAgain('The session has expired. Attest again.');
  const run = await runOfGuest(table, await readKeyedRuns(table, domain), session.attestation.guest);
  if (!run) throw refused('The guest is not that of an active run whose keys are released.');
  const time = () => timestampOf(clock);
  const request: KeyRequest = { run, session, asset, answered: await askAgent(table, clock, run.run, now) };
  const { held, creator } = await checkRelease(table, request, time);
  const teeKey = session.tee_key as JsonWebKey;
  if (held === 'service') return await releaseKey(table, request, async (key) => sealForTee(await open(kms, key), teeKey), time);
  const asked = { domain, user: creator, asset, computation_id: run.run.computation_id, run_id: run.run.run_id, session: opened };
  const wait = newWait();
  const answer = await askBroker(table, wait, asked, time());
  if (answer === undefined) {
    if (steadyTimeOf(clock) < wait.endsAt)
      throw new ServiceError('unavailable', 'The service cannot wait for the broker now. Try again in a moment.');
    return await refuseKey(table, request, `the broker of ${plainName(creator)} did not answer`, time);
  }
  if (answer.refusal != null)
    return await refuseKey(table, request, `The broker of ${plainName(creator)} refuses: ${quotedText(answer.refusal)}`, time);
  return await releaseKey(table, request, async () => answer.jwe, time);
}

/** Decrypts the key that a run keeps of an asset. @throws Error if it is not the key with its fingerprint */
async function open(kms: Kms, { asset, key }: KeyOfRun): Promise<Buffer> {
  const plain = Buffer.from(await openKey(kms, { asset }, key), 'base64');
  if (plain.length !== 32) throw new Error('The key of an asset is not stored.');
  return plain;
}

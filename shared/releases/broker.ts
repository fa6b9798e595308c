import * as v from 'valibot';
import { randomBytes, randomUUID } from 'node:crypto';
import { canonicalJson } from 'computation-management-formats/digests';
import { readEventOf, sign } from '../evidence/index.ts';
import { type Wait, waitFor } from '../http/wait.ts';
import { readTokensOfRun } from '../rows/agent-tokens.ts';
import { readEvidenceOf } from '../rows/key-session.ts';
import { readRun } from '../rows/run.ts';
import { parseSnapshot } from '../rows/run-snapshot.ts';
import type { Kms } from '../runtime/clients.ts';
import { conflict, orNotFound } from '../runtime/errors.ts';
import { releaseKeys, runKeys } from '../table/keys.ts';
import { parseStored } from '../table/stored.ts';
import { type Item, type Table, getItem, queryPrefix } from '../table/table.ts';
import { type UserRequest, StaleReadError, makeChange } from '../table/transaction.ts';
import { setAttributes, putItem } from '../table/writes.ts';
import { described, namedInput, text } from 'computation-management-formats/fields';

const base64Url = (most: number, what: string) =>
  v.pipe(
    v.string(),
    v.regex(/^[\w-]*$/, 'Expected base64url.'),
    v.maxLength(most),
    v.description(what),
    v.metadata({ maxLength: most }),
  );

/** Schema of a sealed key: a JWE in its flattened form (RFC 7516, section 7.2.2). */
export const jwe = namedInput('SealedKey', 'A key, encrypted for the TEE that asks: a flattened JWE with A256GCM.', {
  protected: base64Url(2_048, 'The header.'),
  encrypted_key: base64Url(2_048, 'The encrypted content key.'),
  iv: base64Url(16, 'The nonce.'),
  ciphertext: base64Url(64, 'The encrypted key of the asset.'),
  tag: base64Url(22, 'The tag.'),
});

const refusal = described(text(1, 1_000), 'Why the broker refuses, as a sentence.');

/** Schema of the answer of a broker to a request for a key. */
export const brokersAnswer = v.pipe(
  v.variant(
    'refusal',
    [
      namedInput('RefusedKey', 'An answer without the key.', { refusal }),
      namedInput('ReleasedKey', 'An answer with the key.', {
        refusal: v.optional(described(v.null_(), 'Omit it to answer with the key.')),
        jwe,
      }),
    ],
    'Expected a sentence, or no refusal beside a jwe.',
  ),
  v.title('BrokersAnswer'),
  v.description('The sealed key, or a refusal.'),
);
export type BrokersAnswer = v.InferOutput<typeof brokersAnswer>;

/** The time in which a broker must answer. */
export const brokerSeconds = 20;

const ask = v.object({
  ...v.entriesFromList(['id', 'asset', 'computation_id', 'run_id', 'session', 'asked_at', 'expires_at'], v.string()),
  answer: v.optional(brokersAnswer),
});
type Ask = v.InferOutput<typeof ask>;
const parseAsk = (item: Item) => parseStored(ask, item, 'request to a broker');

/**
 * Asks the broker of a user for a key, and waits up to 20 seconds for the answer.
 * @returns undefined if none comes
 * @throws ServiceError `unavailable` if too many requests wait already
 */
export async function askBroker(
  table: Table,
  wait: Wait,
  { domain, user, ...asked }: Pick<Ask, 'asset' | 'computation_id' | 'run_id' | 'session'> & { domain: string; user: string },
  now: string,
): Promise<BrokersAnswer | undefined> {
  const id = randomUUID();
  const key = releaseKeys.ask(domain, user, id);
  const expires = Date.parse(now) + brokerSeconds * 1_000;
  const times = { asked_at: now, expires_at: new Date(expires).toISOString(), ttl: Math.ceil(expires / 1_000) + 3_600 };
  await putItem(table, { ...key, id, ...asked, ...times });
  const seen = await waitFor(
    table,
    wait,
    async () => (await getItem(table, key)) ?? {},
    ({ answer }) => answer !== undefined,
  );
  return parseAsk(seen).answer;
}

/** A request for a key of a user's asset, as the user's broker gets it. */
interface Asked {
  id: string;
  asset: string;
  run: string;
  authorization: { statement: Record<string, unknown>; signature: string; key_id: string };
  /** The body of the request that brought the evidence, as it was posted. */
  evidence: string;
}

/** The most requests that a broker gets at once: the evidence of each may have 1 MiB, twice that as JSON, and a function answers with 6 MB. */
export const mostAsked = 2;

/**
 * Lists the requests for keys of a user's assets that wait for the user's broker, oldest first, each with an authorization that is signed
 * for the broker's nonce. Waits for the first one.
 */
export async function listAsked(
  table: Table,
  kms: Kms,
  { domain, user, nonce }: { domain: string; user: string; nonce: string },
  wait: Wait,
): Promise<Asked[]> {
  const look = async () => {
    const items = await queryPrefix(table, releaseKeys.partition(domain), releaseKeys.prefixes.asked(user));
    const at = new Date(wait.clock.now()).toISOString();
    return items.map(parseAsk).filter(({ answer, expires_at }) => answer === undefined && expires_at > at);
  };
  const found = await waitFor(table, wait, look, ({ length }) => length > 0);
  const asked = found.toSorted((one, other) => (one.asked_at < other.asked_at ? -1 : 1)).slice(0, mostAsked);
  const issuedAt = wait.clock.now();
  const all = await Promise.all(asked.map((each) => describe(table, kms, each, { domain, nonce, issuedAt })));
  return all.flatMap((each) => each ?? []);
}

const authorizationSeconds = 300;

/** Describes a request to a broker. Undefined if its run or its evidence is gone. */
async function describe(
  table: Table,
  kms: Kms,
  { id, asset, computation_id, run_id, session }: Ask,
  { domain, nonce, issuedAt }: { domain: string; nonce: string; issuedAt: number },
): Promise<Asked | undefined> {
  const [run, item, evidence] = await Promise.all([
    readRun(table, domain, run_id),
    getItem(table, runKeys.snapshot(computation_id, run_id)),
    readEvidenceOf(table, domain, session),
  ]);
  if (!run || !item || evidence === undefined) return undefined;
  const [tokens, started] = await Promise.all([readTokensOfRun(table, run), readEventOf(table, run, 'started', run.started_at)]);
  const { certificate, manifest_digest, configuration_digest, manifest, approvals } = parseSnapshot([item]);
  const statement = {
    type: 'run-authorization:v1',
    nonce,
    domain,
    computation: computation_id,
    run: run_id,
    cvm: run.cvm_id,
    certificate,
    manifest_digest,
    configuration_digest,
    manifest,
    approvals,
    token_hashes: (tokens?.tokens ?? []).map(({ hash }) => hash),
    started,
    issued_at: new Date(issuedAt).toISOString(),
    expires_at: new Date(issuedAt + authorizationSeconds * 1_000).toISOString(),
  };
  return { id, asset, run: run_id, authorization: { statement, ...(await sign(kms, canonicalJson(statement))) }, evidence };
}

/** Makes a nonce for a broker that sends none: 32 bytes, base64url. */
export const newNonce = () => randomBytes(32).toString('base64url');

interface Answering extends UserRequest {
  id: string;
  answer: BrokersAnswer;
}

/**
 * Takes the answer of a user's broker to a request for a key, once.
 * @throws ServiceError `not_found`; `conflict` (`request_over`) if it was answered before, or 20 seconds have passed
 */
export async function answerAsked(table: Table, { domain, by, id, answer, now, answerKeeper }: Answering) {
  return await makeChange(table, answerKeeper, async (table, transaction) => {
    const Key = releaseKeys.ask(domain, by, id);
    const item = orNotFound(await getItem(table, Key), 'request for a key of your assets');
    const { asset, run_id, answer: before, expires_at } = parseAsk(item);
    if (before !== undefined) throw conflict('request_over', 'The request was answered before.');
    if (expires_at <= now) throw conflict('request_over', `The request waited for ${brokerSeconds} seconds, and is over.`);
    const update = {
      ...setAttributes({ answer }),
      Key,
      ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(answer)',
    };
    transaction.add({ update, otherwise: StaleReadError });
    return { id, asset, run: run_id };
  });
}

import { arrayOf, described, namedObject, shownText, strictObject } from 'computation-management-formats/fields';
import { identifier } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import { type Route, waitParameter } from '../http/route.ts';
import { brokerSeconds, mostAsked, brokersAnswer, jwe } from '../releases/broker.ts';
import { waiting } from '../runtime/uses.ts';
import { openObject } from './service.ts';

const largestAttestation = 1024 * 1024;

/** The permissions to make the secret of the challenges, and to open it. */
const ofSecret = { sealingKey: ['GenerateDataKey', 'Decrypt'], seals: 'secret' } as const;
const impact = 'CVMs get no keys, so runs with encrypted files fail.';

const sessionCookie = { 'set-cookie': 'The session, `kbs-session-id`, to send with `attest`.' };

export const authRoute = {
  name: 'releases/auth',
  takesKey: false,
  uses: { table: ['GetItem', 'PutItem'], ...ofSecret },
  impact,
  method: 'POST',
  path: '/{domainID}/kbs/v0/auth',
  summary: 'Begin an attestation (KBS 0.4.0)',
  body: openObject('KeyAuthInput', '`version`, the version of the protocol: `0.4.0`. Other members are ignored.', {}),
  response: namedObject('KeyChallenge', 'A challenge of the key broker protocol.', {
    nonce: shownText(88, 'What the evidence must be made for, base64. It holds for 5 minutes.'),
    'extra-params': described(v.literal(''), 'Always empty.'),
  }),
  headers: sessionCookie,
  errors: ['unauthenticated', 'too_many_requests'],
  description:
    'For CVMs: clients of Confidential Containers speak this protocol (KBS) with the base URL `/{domainID}`. Returns 401 for another version ' +
    'than 0.4.0.',
} as const satisfies Route;

export const attestRoute = {
  name: 'releases/attest',
  takesKey: false,
  uses: {
    table: ['GetItem', 'BatchGetItem', 'Query', 'PutItem'],
    content: ['GetObject'],
    bucket: ['ListBucket'],
    signingKey: ['Sign', 'GetPublicKey'],
    ...ofSecret,
  },
  impact,
  method: 'POST',
  path: '/{domainID}/kbs/v0/attest',
  summary: 'Send evidence for a nonce (KBS 0.4.0)',
  body: openObject(
    'KeyAttestInput',
    '`runtime-data` with `nonce` and `tee-pubkey`, and `tee-evidence`. Other members are ignored.',
    {},
  ),
  bodyLimit: largestAttestation,
  response: namedObject('KeyToken', 'An attestation token.', {
    token: shownText(8_192, 'A JWT that opens the session. It holds for 5 minutes.'),
  }),
  errors: ['unauthenticated', 'forbidden', 'too_many_requests'],
  description:
    'The report data of the evidence is the SHA-384 of the canonical JSON of `additional-evidence`, `nonce` and `tee-pubkey`, with zeros up to ' +
    '64 bytes. Returns 403 in a domain without an active run that has a key, or for evidence that does not hold.',
} as const satisfies Route;

export const getKeyRoute = {
  name: 'releases/get-key',
  uses: {
    table: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
    sealingKey: ['Decrypt'],
    seals: 'asset',
    publishedKeys: ['GetPublicKey'],
  },
  waits: true,
  impact,
  method: 'GET',
  path: '/{domainID}/kbs/v0/resource/{resource+}',
  summary: 'Get the key of an asset, sealed for the TEE (KBS 0.4.0)',
  changes: true,
  response: jwe,
  errors: ['unauthenticated', 'forbidden', 'not_found', 'too_many_requests'],
  description:
    'Takes the token of `attest` or the cookie. Releases the key only while every condition holds, and says with 403 which one does not. ' +
    `Where a party holds the key, waits up to ${brokerSeconds} seconds for its broker.`,
} as const satisfies Route;

const authorization = namedObject('RunAuthorization', 'A signed statement about the run that asks for a key.', {
  statement: openObject('RunAuthorizationStatement', 'What the service states about the run: `run-authorization:v1`.', {}),
  signature: shownText(86, 'The signature by ES256 of its canonical JSON, base64url.'),
  key_id: shownText(43, 'The thumbprint of the key that signed (RFC 7638).'),
});

const asked = namedObject('AskedKey', 'A request for a key that a party holds.', {
  id: v.pipe(shownText(36), v.description('The identifier of the request.'), v.metadata({ format: 'uuid' })),
  asset: v.pipe(shownText(36), v.description('The asset whose key is asked for.'), v.metadata({ format: 'uuid' })),
  run: v.pipe(shownText(36), v.description('The run whose CVM asks.'), v.metadata({ format: 'uuid' })),
  authorization,
  evidence: shownText(largestAttestation, 'The body of the request `attest` of the CVM, as it was posted.'),
});

export const listReleasesRoute = {
  name: 'releases/list-releases',
  method: 'GET',
  path: '/{domainID}/releases',
  summary: 'List or watch the requests for keys that you hold',
  access: { anyOf: ['view'] },
  waits: true,
  uses: { table: ['GetItem', ...waiting], signingKey: ['Sign', 'GetPublicKey'] },
  impact: 'Brokers of parties learn of no request, so runs with keys that parties hold fail.',
  query: strictObject({
    nonce: v.optional(
      v.pipe(
        v.string(),
        v.regex(/^[\w-]{43}$/, 'Expected 32 bytes in base64url.'),
        v.maxLength(43),
        v.description('A nonce of yours for the authorizations: 32 bytes, base64url. Default: one that the service makes.'),
      ),
    ),
    wait: waitParameter,
  }),
  response: namedObject('AskedKeys', 'The requests for keys that wait for the broker of the caller.', {
    releases: arrayOf(asked, mostAsked, 'The requests, oldest first.'),
  }),
  description: `For brokers. A request waits for ${brokerSeconds} seconds. Verify all of it before you answer: the service may lie.`,
} as const satisfies Route;

export const answerReleaseRoute = {
  name: 'releases/answer-release',
  method: 'POST',
  path: '/{domainID}/releases/{id}',
  summary: 'Answer a request for a key that you hold',
  access: { anyOf: ['view'] },
  uses: { table: ['GetItem', 'PutItem', 'UpdateItem'] },
  impact: 'Brokers of parties cannot answer, so runs with keys that parties hold fail.',
  body: brokersAnswer,
  response: namedObject('AnsweredKey', 'The request that was answered.', {
    id: described(identifier, 'The identifier of the request.'),
    asset: v.pipe(shownText(36), v.description('The asset.'), v.metadata({ format: 'uuid' })),
    run: v.pipe(shownText(36), v.description('The run.'), v.metadata({ format: 'uuid' })),
  }),
  reasons: ['request_over'],
  description: 'Returns 404 for requests for keys of others, and 409 once the request was answered or is over.',
} as const satisfies Route;

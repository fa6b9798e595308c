import { createHash, randomUUID } from 'node:crypto';
import type { Verdict } from 'computation-management-attestation';
import { approvalText, type Configuration } from 'computation-management-formats/consent';
import { canonicalDigest, hashOfEvent } from 'computation-management-formats/digests';
import { numberedId } from 'computation-management-formats/identifiers';
import type { AskedKey, OwnApproval, OwnKnowledge } from 'computation-management-verify';
import { strictPolicy } from '../../support/strict-policy.ts';
import { byTestRoots } from '../attestation/by-test-roots.ts';
import { coseOf, forgeSnp, messageOf, now } from '../attestation/forge-snp.ts';
import { certificatePem } from '../formats/openssh-keys.ts';
import { aToken, hashOfToken, newServiceKey, newSigner, signers, type StatedApproval } from './genuine-evidence.ts';
import { changedSomewhere, pick, type Random, whole } from './tamperings.ts';

const asset = '5c2f1f0e-7a0b-4c1d-9e55-0a8c2f6f7d11';
const computation = numberedId(7);
const run = numberedId(42);
const approvalId = randomUUID();
const checksum = 'ab'.repeat(32);
const at = (seconds: number) => new Date(now.getTime() + seconds * 1_000).toISOString();
const serviceKey = newServiceKey();
const otherKey = newServiceKey();
const [bob, alice] = [signers[1], signers[0]] as [(typeof signers)[number], (typeof signers)[number]];
const mallory = newSigner('mallory');

/** Makes a token over the certificate of the CVM, and evidence for the key of a TEE, both of one guest. */
function machineOf(guest: number, { policy = 3 << 16, certificate }: { policy?: number; certificate?: string } = {}) {
  const change = (report: Buffer) => {
    report.fill(guest, 0x140, 0x160);
    report.writeUInt32LE(policy, 0x08);
    if (certificate !== undefined) createHash('sha512').update(certificate).digest().copy(report, 0x50);
  };
  const ofTee = forgeSnp({
    report: (report) => {
      change(report);
      report.fill(9, 0x50, 0x90);
    },
  });
  return {
    ...aToken(change),
    evidence: Buffer.from(coseOf({ platform_type: 'SNP', raw_report: messageOf(ofTee.report, ofTee.certificates) })),
  };
}
const machine = machineOf(1);
const { roots } = machine;
/** Verifies a token by the roots of the test. */
export const verify: typeof byTestRoots.verifyToken = (token, options) => byTestRoots.verifyToken(token, { ...options, roots });
const verdictOn = async (token: Uint8Array, first = 9): Promise<Verdict> =>
  await verify(token, { boundTo: { nonce: Buffer.alloc(64, first) }, now });
const debugged = 1 << 19;
const [evidence, ofOtherGuest, ofDebugged, forOtherTee] = await Promise.all([
  verdictOn(machine.evidence),
  verdictOn(machineOf(2).evidence),
  verdictOn(machineOf(1, { policy: (3 << 16) | debugged }).evidence),
  verdictOn(machine.evidence, 8),
]);
/** A machine with a certificate of its own, which is not that of the run. */
const otherMachine = machineOf(2, { certificate: 'another' });

const configuration: Configuration = {
  agent_config: { cert_file: '', server_ca_file: '', client_ca_file: '', attested_tls: false },
  approval: 'all_signed',
  attestation_policy: { ...strictPolicy, platforms: ['snp'], measurements: ['ab'.repeat(48)], minimum_tcb: null },
  log_access: 'none',
  result_review: null,
};
const file = { user_key: bob.key, hash: Array.from(Buffer.from(checksum, 'hex')) };
const manifest = {
  id: computation,
  name: 'Penguins',
  description: '',
  datasets: [
    {
      ...file,
      filename: 'penguins.csv',
      source: { kbs_resource_path: `${asset}/key/1`, encrypted: true as const },
      kbs: { url: 'https://service.example/d1', enabled: true as const },
    },
  ],
  algorithm: { ...file, user_key: alice.key, hash: Array<number>(32).fill(1) },
  result_consumers: [{ user_key: alice.key }],
};
type Manifest = typeof manifest;

/** The parts of which a service makes an authorization, and what it sends beside it. */
interface Parts {
  statement: Record<string, unknown> & { manifest: Manifest; approvals: StatedApproval[]; started: Record<string, unknown> };
  key: ReturnType<typeof newServiceKey>;
  /** Changes the statement after it was signed. */
  after: (statement: Record<string, unknown>) => void;
  asked: Omit<AskedKey, 'authorization'>;
  own: OwnKnowledge;
}

const digestsOf = (of: object) => ({
  manifest_digest: canonicalDigest(of),
  configuration_digest: canonicalDigest(configuration),
});

function approvalOf(
  signer: ReturnType<typeof newSigner>,
  limits: object,
  of: object = manifest,
  place: object = {},
): StatedApproval {
  const approved = { domain: 'd1', computation, approver: signer.user, ...digestsOf(of), ...limits, ...place };
  const { use: _, ...signed } = approved as typeof approved & { use?: number };
  return {
    user: signer.user,
    digest: approved.manifest_digest,
    configuration_digest: approved.configuration_digest,
    cvm_ids: null,
    expires_at: null,
    max_runs: null,
    use: null,
    approval_id: null,
    journal_head: null,
    ...limits,
    signature: signer.sign(approvalText(signed)),
    key: signer.key,
    approved_at: at(-100),
  };
}

const ownLimits = { cvm_ids: ['cvm-1'], expires_at: at(3_600), max_runs: 3, approval_id: approvalId };
const ofBob = approvalOf(bob, { ...ownLimits, use: 2 });
const ofAlice = approvalOf(alice, {});

function startedEvent(change: object = {}): Record<string, unknown> {
  const details = Buffer.from(JSON.stringify({ ...digestsOf(manifest), start_digest: 'cd'.repeat(32) })).toString('base64');
  const event = {
    id: numberedId(9),
    event_type: 'started',
    details,
    run_id: run,
    timestamp: at(-60),
    originator: 'alice',
    cvm_id: 'cvm-1',
    status: 'success',
    previous_hash: 'ef'.repeat(32),
    ...change,
  };
  return { ...event, hash: hashOfEvent(event) };
}

/** Returns what an honest service sends for a nonce, and what bob has kept. */
export function honest(): Parts {
  const { jwk } = serviceKey;
  const approval: OwnApproval = {
    computation,
    manifest_digest: canonicalDigest(manifest),
    configuration,
    key: bob.key,
    needed: ['alice', 'bob'],
    ...ownLimits,
  };
  const nonce = Buffer.alloc(32, 5).toString('base64url');
  const release_policy = { ...strictPolicy, platforms: ['snp'], measurements: ['ab'.repeat(48)], minimum_tcb: null };
  return {
    statement: {
      type: 'run-authorization:v1',
      nonce,
      domain: 'd1',
      computation,
      run,
      cvm: 'cvm-1',
      certificate: certificatePem,
      ...digestsOf(manifest),
      manifest: structuredClone(manifest),
      approvals: [{ ...ofBob }, { ...ofAlice }],
      token_hashes: [hashOfToken(machine.token)],
      started: startedEvent(),
      issued_at: at(-1),
      expires_at: at(299),
    },
    key: serviceKey,
    after: () => undefined,
    asked: { asset, evidence, tokens: [machine.token] },
    own: {
      domain: 'd1',
      user: 'bob',
      nonce,
      serviceKey: jwk,
      approval,
      now,
      trustsServiceForManifest: true,
      key: { checksum, release_policy: release_policy },
    },
  };
}

/** Signs the authorization, and returns what the broker gets and knows. */
export function sent({ statement, key, after, asked, own }: Parts): [AskedKey, OwnKnowledge] {
  const signed = structuredClone(statement);
  const authorization = { statement: signed, signature: key.signed(signed), key_id: key.jwk.kid };
  after(signed);
  return [{ ...asked, authorization }, own];
}

/** The members of a statement that a service may state as it likes: nothing that a party knows speaks against another value. */
const free = /^(?:issued_at|expires_at|approvals\/\d+ and \d+ exchanged|approvals\/\d+\/(?:approved_at|use|journal_head))/;

function replace(object: object, other: object): void {
  for (const name of Object.keys(object)) Reflect.deleteProperty(object, name);
  Object.defineProperties(object, Object.getOwnPropertyDescriptors(other)); // also a member named __proto__
}

/** Changes what a service sends. May return what it changed. */
type Lie = (parts: Parts, random: Random) => unknown;

/** The lies that a service can tell a broker. The key must not leave for any of them, whatever else is true. */
const lies: Record<string, Lie> = {
  'another nonce': ({ statement }, random) =>
    (statement['nonce'] = pick(['', Buffer.alloc(32, 6).toString('base64url')], random)),
  'a key of its own': (parts) => (parts.key = otherKey),
  'a key of its own under the name of the right one': (parts) =>
    (parts.key = { ...otherKey, jwk: { ...otherKey.jwk, kid: serviceKey.jwk.kid } }),
  'a member changed after it was signed': (parts, random) => {
    parts.after = (statement) => replace(statement, changedSomewhere(statement, random).changed);
  },
  'a member of another name': ({ statement }, random) => (statement[pick(['note', 'constructor', 'result'], random)] = 'x'),
  'another manifest, approved by keys of its own': ({ statement }, random) => {
    statement.manifest.name = pick(['Penguins 2', 'Other'], random);
    Object.assign(statement, digestsOf(statement.manifest));
    statement.approvals = [mallory, alice].map((signer) => ({
      ...approvalOf(signer, { ...ownLimits, use: 1 }, statement.manifest),
      user: signer === mallory ? 'bob' : 'alice',
    }));
  },
  'another manifest, where nobody signs': ({ statement, own }) => {
    if (own.approval === undefined) return;
    const unsigned: Configuration = { ...configuration, approval: 'all' };
    own.approval = { ...own.approval, configuration: unsigned, key: undefined };
    statement.manifest.name = 'Other';
    const digests = {
      manifest_digest: canonicalDigest(statement.manifest),
      configuration_digest: canonicalDigest(unsigned),
    };
    const { manifest_digest: digest, configuration_digest } = digests;
    const approvals = [ofBob, ofAlice].map((each) => ({ ...each, digest, configuration_digest, signature: null, key: null }));
    const details = Buffer.from(JSON.stringify(digests)).toString('base64');
    Object.assign(statement, { ...digests, approvals, started: startedEvent({ details }) });
  },
  'another manifest under the digest of the right one': ({ statement }, random) =>
    (statement.manifest.datasets[0] = {
      ...(statement.manifest.datasets[0] as Manifest['datasets'][number]),
      filename: `x${random()}`,
    }),
  'another configuration': ({ statement }) => (statement['configuration_digest'] = 'ef'.repeat(32)),
  'a manifest without the file': ({ statement, own }) => {
    statement.manifest.datasets = [];
    Object.assign(statement, digestsOf(statement.manifest));
    own.approval = { ...(own.approval as OwnApproval), manifest_digest: canonicalDigest(statement.manifest) };
  },
  'an approval of another user as that of bob': ({ statement }) =>
    (statement.approvals = [{ ...ofAlice, user: 'bob' }, { ...ofAlice }]),
  'an approval of another computation': ({ statement }) =>
    (statement.approvals[0] = approvalOf(bob, { ...ownLimits, use: 1 }, manifest, { computation: numberedId(8) })),
  'an approval of another domain': ({ statement }) =>
    (statement.approvals[0] = approvalOf(bob, { ...ownLimits, use: 1 }, manifest, { domain: 'd2' })),
  'an earlier approval with wider limits': ({ statement }, random) =>
    (statement.approvals[0] = approvalOf(
      bob,
      pick(
        [
          {},
          { ...ownLimits, cvm_ids: null },
          { ...ownLimits, max_runs: 9, use: 9 },
          { ...ownLimits, approval_id: randomUUID(), use: 1 },
        ],
        random,
      ),
    )),
  'an approval left out': ({ statement }, random) => statement.approvals.splice(whole(random, 2), 1),
  'a signature left out': ({ statement }, random) =>
    Object.assign(pick(statement.approvals, random), { signature: null, key: null }),
  'a number out of range': ({ statement }, random) =>
    Object.assign(statement.approvals[0] ?? {}, { use: pick([null, 0, 4, 1.5, -1], random) }),
  'an approval that bob withdrew': ({ own }) => (own.approval = undefined),
  'a run of another computation': ({ statement, own }) => {
    statement['computation'] = numberedId(8);
    own.approval = { ...(own.approval as OwnApproval), computation: numberedId(8) };
  },
  'another domain': ({ statement }) => (statement['domain'] = 'd2'),
  'a run on another CVM': ({ statement }) => {
    statement['cvm'] = 'cvm-2';
    statement.started = startedEvent({ cvm_id: 'cvm-2' });
  },
  'the start of another run': ({ statement }) => (statement.started = startedEvent({ run_id: numberedId(43) })),
  'the end of the run as its start': ({ statement }) => (statement.started = startedEvent({ event_type: 'completed' })),
  'a start that was changed': ({ statement }, random) => (statement.started['originator'] = pick(['bob', 'system'], random)),
  'a start with other digests': ({ statement }) => (statement.started = startedEvent({ details: 'e30=' })),
  'an authorization of another time': ({ statement }, random) => {
    const from = pick([-86_400, -1_200, 1_200], random);
    Object.assign(statement, { issued_at: at(from), expires_at: at(from + 300) });
  },
  'an authorization for a day': ({ statement }) => (statement['expires_at'] = at(86_400)),
  'times that are none': ({ statement }) => (statement['expires_at'] = 'tomorrow'),
  'an approval that has expired since': (parts) => (parts.own.now = new Date(Date.parse(at(3_700)))),
  'the token of another machine': ({ statement, asked }) => {
    statement['token_hashes'] = [hashOfToken(otherMachine.token)];
    asked.tokens = [otherMachine.token];
  },
  'a token that is not the one it names': ({ asked }) => (asked.tokens = [otherMachine.token]),
  'no tokens': ({ statement, asked }) => {
    statement['token_hashes'] = [];
    asked.tokens = [];
  },
  'a second token of another machine': ({ statement, asked }) => {
    statement['token_hashes'] = [hashOfToken(machine.token), hashOfToken(otherMachine.token)];
    asked.tokens = [machine.token, otherMachine.token];
  },
  'another certificate': ({ statement }, random) => (statement['certificate'] = pick([null, `${certificatePem}\n`, 'x'], random)),
  'evidence of another guest': ({ asked }) => (asked.evidence = ofOtherGuest),
  'evidence of a guest that is debugged': ({ asked }) => (asked.evidence = ofDebugged),
  'evidence for the key of another TEE': ({ asked }) => (asked.evidence = forOtherTee),
  'a guest without a number': ({ asked }) => (asked.evidence = { ...evidence, guest: null }),
  'a machine that the party does not allow': ({ own }) =>
    (own.key = { checksum, release_policy: { ...strictPolicy, measurements: ['cd'.repeat(48)] } }),
  'no policy at all': ({ own }) => {
    const { approval } = own;
    own.approval = approval && { ...approval, configuration: { ...approval.configuration, attestation_policy: null } };
    own.key = { checksum, release_policy: null };
  },
  'another asset': ({ asked }) => (asked.asset = randomUUID()),
  'a manifest in the machine that nothing names': ({ own }) => (own.trustsServiceForManifest = false),
  'another manifest in the machine': ({ asked }) => (asked.evidence = { ...evidence, pcrs: { 16: 'ab'.repeat(32) } }),
  'any member otherwise, signed again': ({ statement }, random) => {
    for (;;) {
      const { changed, what } = changedSomewhere(statement, random);
      if (free.test(what)) continue;
      replace(statement, changed);
      return what;
    }
  },
};

export const namesOfLies = Object.keys(lies);
/** The lies that leave the parts whole, so that another can follow. */
const freely = namesOfLies.filter((name) => !/withdrew|left out|any member|no tokens/.test(name));

/** Tells a broker a lie of a kind, and before it some others. Returns what the broker gets and knows. */
export function lieOf(kind: string, random: Random, others = whole(random, 3)): { what: string; told: [AskedKey, OwnKnowledge] } {
  const before = Array.from({ length: others }, () => pick(freely, random));
  const parts = honest();
  const told = [...before, kind].map((each) => `${each}: ${String(lies[each]?.(parts, random))}`);
  return { what: told.join(', then '), told: sent(parts) };
}

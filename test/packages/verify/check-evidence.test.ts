import { constants, createHash, generateKeyPairSync, sign } from 'node:crypto';
import { approvalText, type Configuration } from 'computation-management-formats/consent';
import { canonicalDigest, hashOfEvent } from 'computation-management-formats/digests';
import type { ApprovalLevel } from 'computation-management-formats/vocabulary';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { checkEvidence, type FilesOfTest } from './check-by-test-roots.ts';
import { UnreadableError } from '../../../packages/verify/evidence-files.ts';
import type { NewEvent } from '../../../shared/journal/journal.ts';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { anEvent } from '../../support/append-to-journal.ts';
import { coseOf, forgeSnp, jwtOf } from '../attestation/forge-snp.ts';
import { bodyOf, currentAt, forgeTdx } from '../attestation/forge-tdx.ts';
import {
  aToken,
  filesOf,
  genuineEvidence,
  hashOfToken,
  newServiceKey,
  type Genuine,
  type StatedApproval,
} from './genuine-evidence.ts';
import { logOf } from './test-log.ts';
import { exitCodeOf } from '../../../packages/verify/finding.ts';
import { mayBeNull, membersOf, namesMember, without } from './tamperings.ts';

const genuine = genuineEvidence();
const files = filesOf(genuine);

async function sentences(given: FilesOfTest, verdict: string): Promise<string[]> {
  return (await checkEvidence(given)).flatMap((finding) => (finding.verdict === verdict ? [finding.sentence] : []));
}

const objections = (given: FilesOfTest) => sentences(given, 'does not hold');
const sampled = <T>(all: T[]) => all.filter((_, at) => amount({ sample: (at + sampleSeed) % 8 === 0, full: true }));

interface Attested {
  verdict: string;
  checks: object[];
  tokens: [Record<'verdict' | 'hash' | 'verified_at', string>];
}

type Statement = ReturnType<typeof structuredClone<Genuine['statement']>>;

/** Changes the statement and signs it again, as only a service that lies could. */
function signedAnew(change: (statement: Statement) => void): FilesOfTest {
  const statement = structuredClone(genuine.statement);
  change(statement);
  return signed(statement);
}

function signed(statement: object): FilesOfTest {
  const { key_id } = genuine;
  return {
    ...files,
    evidence: JSON.stringify({ statement, signature: genuine.signed(statement), key_id, log: logOf(statement) }),
  };
}

/** Changes the configuration. @returns its digest */
function attest(statement: Statement, attested_tls: boolean): string {
  const configuration = statement['configuration'] as { agent_config: object };
  Object.assign(configuration.agent_config, { attested_tls });
  return canonicalDigest(configuration);
}

/** The genuine evidence of a run that was started with something else. */
const startedWith = (change: (start: Statement) => void) => filesOf(genuineEvidence(8, { change }));

type Four<T> = [T, T, T, T];
const approvalsOf = (statement: Statement) => statement['approvals'] as Four<StatedApproval>;

describe('the check of genuine evidence', () => {
  it('finds that everything holds, and who approved with which key', async () => {
    expect(await objections(files)).toEqual([]);
    const holding = await sentences(files, 'holds');
    for (const user of ['alice', 'bob', 'carol']) {
      expect(holding).toContainEqual(
        expect.stringMatching(new RegExp(`^"${user}" approved this manifest and configuration, signed by the key SHA256:`)),
      );
    }
    expect(holding).toContainEqual(expect.stringMatching(/^The 10 events .* are complete, unchanged and in order\.$/));
    const { id, hash } = genuine.events.at(-1) ?? { id: '', hash: '' };
    expect(holding).toContain(`The event "completed" ("${id}") in the statement has the hash of its content, "${hash}".`);
  });

  it('notes a signature of a kind that this browser or Node does not know, and counts it as none', async () => {
    const importKey = crypto.subtle.importKey.bind(crypto.subtle);
    const unknown = vi.spyOn(crypto.subtle, 'importKey').mockImplementation(async (...given: unknown[]) => {
      if ((given[2] as { name: string }).name === 'Ed25519') throw new DOMException('Unknown', 'NotSupportedError');
      return await (importKey as (...of: unknown[]) => ReturnType<typeof importKey>)(...given);
    });
    onTestFinished(() => unknown.mockRestore());
    expect(await objections(files)).toEqual([]);
    const unknownHere =
      'The signature of "alice" was not checked here: this browser or Node cannot verify signatures by such a key.';
    expect(await sentences(files, 'not checked')).toContain(unknownHere);
    const needsNone = startedWith((start) => {
      for (const asset of start['assets'] as { use: string }[]) asset.use = 'open';
    });
    expect(await sentences(needsNone, 'note')).toContain(unknownHere);
    const held = (await sentences(files, 'holds')).filter((sentence) => /approved/.test(sentence));
    expect(held).toEqual([expect.stringMatching(/^"bob" approved/), expect.stringMatching(/^"carol" approved/)]);
  });

  it('names what it cannot verify', async () => {
    const { events: _, ...without } = files;
    expect(await sentences(without, 'note')).toEqual([
      'Only the service can know whether another run used the guest before, which the policy forbids.',
      'Only the service can know whether the connection that attested got the run and kept it, as the policy demands.',
      expect.stringContaining('"dave" approved this manifest and configuration without a signature'),
      expect.stringMatching(/^The service alone says whose keys these are\./),
      expect.stringMatching(/^Compare this state of the log with the other parties: 2 \S{43}\.$/),
      expect.stringContaining('as you said: this proves no TEE'),
    ]);
    expect(await sentences(without, 'not checked')).toEqual([expect.stringContaining('were not given')]);
  });

  it('says that no approval was needed, or whose the assets demanded', async () => {
    expect(await sentences(files, 'holds')).toContain(
      'The creators of the assets that demanded it approved: with a signature "alice", "bob". The computation demanded no more.',
    );
    const open = startedWith((start) => {
      for (const asset of start['assets'] as { use: string }[]) asset.use = 'open';
    });
    expect(await sentences(open, 'holds')).toContain(
      'The run needed no approval: neither the computation nor an asset demanded one.',
    );
  });

  it('objects to a token that the CVM reported for a run with a policy and that is none of the statement', async () => {
    const reported = (attestation_hash: unknown, change?: (start: Statement) => void) =>
      filesOf(
        genuineEvidence(1, {
          duringRun: { event_type: 'Attestation', details: { attestation_hash } },
          ...(change && { change }),
        }),
      );
    const another = expect.stringMatching(/^The CVM reported another attestation token .* "(cd){32}": "Attestation"/);
    expect(await objections(reported('cd'.repeat(32)))).toEqual([another]);
    const { hash } = (genuine.statement['attestation'] as Attested).tokens[0];
    expect(await objections(reported(hash))).toEqual([]);
    const withoutPolicy = (start: Statement) => Object.assign(start['configuration'] as object, { attestation_policy: null });
    expect(await sentences(reported('cd'.repeat(32), withoutPolicy), 'note')).toContainEqual(another);
  });

  it('objects to a run whose agent connected again, unless the policy allows it', async () => {
    const again = (allow_reconnect: boolean) =>
      filesOf(
        genuineEvidence(1, {
          duringRun: { event_type: 'Reconnected' },
          change: (start) => Object.assign(start.configuration.attestation_policy ?? {}, { allow_reconnect }),
        }),
      );
    const sentence = expect.stringMatching(/^The agent of the CVM connected again during the run, "Reconnected"/);
    expect(await objections(again(false))).toContainEqual(sentence);
    expect(await objections(again(true))).not.toContainEqual(sentence);
    expect(await sentences(again(true), 'note')).toContainEqual(sentence);
  });

  it.each(['Attestation', 'Reconnected', 'Failed'])(
    'accepts an event %s of the CVM after the end of its run',
    async (event_type) => {
      const { before, events } = genuine;
      const last = events.at(-1);
      const details = Buffer.from(JSON.stringify({ attestation_hash: 'cd'.repeat(32) })).toString('base64');
      const late = { ...genuine.after[0], event_type, details, run_id: last?.run_id, cvm_id: 'cvm-1', previous_hash: last?.hash };
      const hash = hashOfEvent(late);
      const given = { ...files, events: [JSON.stringify([...before, ...events, { ...late, hash }])] };
      expect(exitCodeOf(await checkEvidence(given))).toBe(0);
      expect(await sentences(given, 'note')).toContainEqual(
        expect.stringMatching(new RegExp(`^The statement does not cover one event after the end of the run: "${event_type}"`)),
      );
    },
  );

  it('accepts events in both orders and in pages', async () => {
    const { before, events, after } = genuine;
    const journal = [...before, ...events, ...after];
    const newestFirst = journal.toReversed();
    const asPage = (part: unknown[], offset = 0) =>
      JSON.stringify({ events: part, limit: part.length, offset, total: journal.length });
    for (const pages of [
      [JSON.stringify(journal)],
      [asPage(newestFirst)],
      [asPage(newestFirst.slice(0, 5)), asPage(newestFirst.slice(5), 5)],
    ]) {
      expect(await objections({ ...files, events: pages })).toEqual([]);
      expect((await sentences({ ...files, events: pages }, 'note')).join()).not.toContain('are missing');
      expect(await sentences({ ...files, events: pages }, 'note')).toContainEqual(
        expect.stringContaining(`does not cover one event after the end of the run: "updated" ("${after[0]?.id ?? ''}")`),
      );
    }
  });

  it('is indifferent to white space and to the order of members', async () => {
    const { statement, signature, key_id } = genuine;
    const reversed = Object.fromEntries(Object.entries(statement).reverse());
    expect(
      await objections({
        ...files,
        evidence: JSON.stringify({ log: genuine.log, key_id, signature, statement: reversed }, null, 4),
      }),
    ).toEqual([]);
  });
});

it('computes the name of each key', async () => {
  const { jwk, signed } = newServiceKey();
  const { statement, key_id } = genuine;
  const evidence = JSON.stringify({ statement, key_id, signature: signed(statement), log: logOf(statement) });
  const given = { evidence, keys: JSON.stringify({ keys: [{ ...jwk, kid: key_id }] }) };
  expect(await objections(given)).toEqual([
    expect.stringMatching(/^The key at place 1 of the given keys is named .*, but its thumbprint is /),
    expect.stringMatching(/^The statement is signed by the key .*, which is not among the given keys\.$/),
  ]);
});

it('writes users so that no two look alike', async () => {
  const given = startedWith((start) => (approvalsOf(start)[3]['user'] = '\u0430lice'));
  expect(await sentences(given, 'note')).toContainEqual(expect.stringMatching(/^"\\u\{0430\}lice" approved this manifest /));
});

describe('the check of a statement that a lying service has signed', () => {
  it.each(['started', 'last'] as const)('names what the event %s says twice', async (which) => {
    const { events: _, ...given } = signedAnew(({ events }) => {
      const event = (events as Record<string, Genuine['events'][number]>)[which];
      if (!event) throw new TypeError('There is no such event.');
      const text = Buffer.from(event.details, 'base64').toString();
      event.details = Buffer.from(`{"token_hashes":[],"start_digest":"",${text.slice(1)}`).toString('base64');
      event.hash = hashOfEvent(event);
    });
    const named = which === 'started' ? 'start_digest' : 'token_hashes';
    expect(await objections(given)).toEqual([expect.stringMatching(new RegExp(`have two values named "${named}"\\.$`))]);
  });

  it.each<[string, (statement: Statement) => void, RegExp]>([
    [
      'another manifest',
      (statement) => Object.assign(statement['manifest'] as object, { name: 'X' }),
      /manifest does not have the digest/,
    ],
    [
      'one asset with the checksums of two',
      (statement) => {
        const assets = statement['assets'] as { checksum: string }[];
        const [last, before] = [assets.pop(), assets.at(-1)];
        if (before) before.checksum += `,${last?.checksum ?? ''}`;
      },
      /^The assets are not those of the manifest: their checksums differ\.$/,
    ],
    [
      'a hash of numbers that are no bytes',
      (statement) => ((statement['manifest'] as { datasets: [{ hash: number[] }] }).datasets[0].hash[0] = 256),
      /^The statement does not have the form of computation-evidence:v1: "manifest\.datasets\.0\.hash\.0": expected/,
    ],
    [
      'a word for another manifest',
      (statement) => (approvalsOf(statement)[0]['digest'] = 'ab'.repeat(32)),
      /^"alice" approved another manifest/,
    ],
    [
      'a word for another CVM',
      (statement) => (approvalsOf(statement)[1]['cvm_ids'] = ['cvm-9']),
      /^"bob" did not approve the CVM "cvm-1"/,
    ],
    [
      'a word that expired',
      (statement) => (approvalsOf(statement)[2]['expires_at'] = '2025-07-17T08:00:02.000Z'),
      /^The approval of "carol" expired/,
    ],
    [
      'a word that expired, with the time of another zone',
      (statement) => (approvalsOf(statement)[2]['expires_at'] = '2025-07-17T10:00:02+02:00'),
      /^The approval of "carol" expired/,
    ],
    [
      'a word that expired within the second in which the run began',
      (statement) => {
        approvalsOf(statement)[2]['expires_at'] = '2025-07-17T08:00:02Z';
        (statement['events'] as { started: Genuine['events'][number] }).started.timestamp = '2025-07-17T08:00:02.500Z';
      },
      /^The approval of "carol" expired/,
    ],
    [
      'a start that says two things under one name',
      (statement) => {
        const { started } = statement['events'] as { started: Genuine['events'][number] };
        started.details = btoa(`{"manifest_digest":"another",${atob(started.details).slice(1)}`);
        Object.assign(started, { hash: hashOfEvent({ ...started }) });
      },
      /^The details of the event "started" \(.*\) have two values named "manifest_digest"\.$/,
    ],
    [
      'a word that expires at no time that exists',
      (statement) => (approvalsOf(statement)[2]['expires_at'] = 'never'),
      /^The approval of "carol" expired/,
    ],
    [
      'a signature without its key',
      (statement) => (approvalsOf(statement)[0]['key'] = null),
      /^The signature of "alice" has no key/,
    ],
    [
      'a key without its signature',
      (statement) => Object.assign(approvalsOf(statement)[0], { signature: null }),
      /^The approval of "alice" has a key, but no signature\.$/,
    ],
    [
      'a key that is no key',
      (statement) => (approvalsOf(statement)[0]['key'] = 'AAAA'),
      /^The signature of "alice" does not fit/,
    ],
    [
      'a key that is too short',
      (statement) => {
        const [approval] = approvalsOf(statement);
        const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
        const text = approvalText({
          domain: 'd1',
          computation: statement['computation'] as string,
          approver: 'alice',
          manifest_digest: approval['digest'],
          configuration_digest: approval['configuration_digest'],
        });
        const key = { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
        approval.signature = sign('sha256', Buffer.from(text), key).toString('base64');
        approval['key'] = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
      },
      /^The signature of "alice" does not fit/,
    ],
    ['a missing word', (statement) => approvalsOf(statement).splice(1, 1), /needs the approval of "bob", who gave none/],
    [
      'another asset',
      (statement) => Object.assign((statement['assets'] as object[])[1] ?? {}, { checksum: 'ab'.repeat(32) }),
      /checksums differ/,
    ],
    [
      'another outcome',
      (statement) => Object.assign(statement['run'] as object, { status: 'failed' }),
      /do not belong to the run .*: events\.last/,
    ],
    [
      'the first event of another run',
      (statement) => Object.assign((statement['events'] as { started: object }).started, { run_id: 'x' }),
      /events\.started/,
    ],
    [
      'another digest in the run',
      (statement) => Object.assign(statement['run'] as object, { manifest_digest: 'ab' }),
      /run\.manifest_digest/,
    ],
    ['another configuration', (statement) => attest(statement, false), /^The configuration does not have the digest/],
    [
      'another configuration than that of the start and of the approvals, with its digest made to fit',
      (statement) => Object.assign(statement, { configuration_digest: attest(statement, false) }),
      /^"alice" approved another configuration/,
    ],
    [
      'another configuration than that of the start, with all digests made to fit',
      (statement) => {
        const configuration_digest = attest(statement, false);
        Object.assign(statement['run'] as object, { configuration_digest });
        for (const approval of approvalsOf(statement)) Object.assign(approval, { configuration_digest });
        Object.assign(statement, { configuration_digest });
      },
      /^The run was started with another manifest, configuration, assets or approvals: "started"/,
    ],
    [
      'a level of approval that is not that of the configuration',
      (statement) => (statement['approval'] = 'all'),
      /configuration\.approval/,
    ],
    [
      'another manifest than that of the start, with its digest made to fit',
      (statement) => {
        const manifest = { ...(statement['manifest'] as object), name: 'X' };
        Object.assign(statement, { manifest, manifest_digest: canonicalDigest(manifest), approvals: [], approval: 'none' });
      },
      /^The run was started with another manifest/,
    ],
    [
      'another creator of an asset than at the start',
      (statement) => Object.assign((statement['assets'] as object[])[2] ?? {}, { creator: 'mallory' }),
      /^The run was started with another manifest/,
    ],
    [
      'a status that no run ends with',
      (statement) => Object.assign(statement['run'] as object, { status: 'Running' }),
      /does not have the form .*"run\.status"/,
    ],
    [
      'an end that the agent wrote',
      (statement) => Object.assign((statement['events'] as { last: object }).last, { originator: 'agent' }),
      /do not belong to the run .*: events\.last/,
    ],
    [
      'an end with the status of another',
      (statement) => Object.assign((statement['events'] as { last: object }).last, { status: 'failure' }),
      /do not belong to the run .*: events\.last/,
    ],
    ...[
      ['started_at', '2020-01-01T00:00:00.000Z'],
      ['ended_at', 'x'],
      ['reason', 'all fine'],
    ].map(([name = '', value]): [string, (statement: Statement) => void, RegExp] => [
      `another ${name} of the run`,
      (statement) => Object.assign(statement['run'] as object, { [name]: value }),
      new RegExp(`do not belong to the run .*: run\\.${name}`),
    ]),
    ['no time of issue', (statement) => (statement['issued_at'] = 'never'), /do not belong to the run .*: issued_at/],
    [
      'two assets with one identifier',
      (statement) => {
        const [one, other] = statement['assets'] as { id: string }[];
        if (one && other) other.id = one.id;
      },
      /do not belong to the run .*: assets/,
    ],
    [
      'a hash of 31 numbers',
      (statement) => (statement['manifest'] as { algorithm: { hash: number[] } }).algorithm.hash.pop(),
      /does not have the form .*"manifest\.algorithm\.hash"/,
    ],
    [
      'a word of after the run began',
      (statement) => (approvalsOf(statement)[0]['approved_at'] = '2030-01-01T00:00:00.000Z'),
      /^"alice" approved at "2030-01-01T00:00:00\.000Z", which is not before the run\.$/,
    ],
    ['another form', (statement) => (statement['approvals'] = 'none'), /does not have the form .*"approvals"/],
    ['another type', (statement) => (statement['type'] = 'computation-evidence:v2'), /does not have the form .*"type"/],
  ])('names %s', async (_what, change, named) => {
    expect(
      await objections({ ...signedAnew(change), events: [JSON.stringify([...genuine.before, ...genuine.events])] }),
    ).toContainEqual(expect.stringMatching(named));
  });

  const inJournal = (changeBefore: (events: NewEvent[]) => void) => {
    const made = genuineEvidence(2, { changeBefore });
    return { made, given: filesOf({ ...made, events: [...made.before, ...made.events] }) };
  };
  const byBob = { originator: 'bob', lifecycle: false };
  const approvalIn = (events: NewEvent[], user: string) =>
    events.findIndex(({ event_type, originator }) => event_type === 'approved' && originator === user);
  const keyOf = (events: NewEvent[], user: string) =>
    events.findIndex(({ event_type, originator }) => event_type === 'key_uploaded' && originator === user);
  const approveAgain = (events: NewEvent[], change: object) => {
    const details = { ...(events[approvalIn(events, 'bob')]?.details as object), ...change };
    events.push(anEvent({ ...byBob, event_type: 'approved', details }));
  };

  it.each([
    [
      'another end',
      { event_type: 'failed', status: 'failure', originator: 'system' },
      /^The run has another beginning or end: "failed"/,
    ],
    ['another start', { event_type: 'started', originator: 'alice' }, /^The run has another beginning or end: "started"/],
    ['an event of another CVM', { cvm_id: 'cvm-9' }, /^The event .* of the run is from another CVM\.$/],
  ] as const)('names %s in the journal of the run', async (_what, duringRun, named) => {
    const made = genuineEvidence(2, { duringRun });
    expect(await objections(filesOf(made))).toContainEqual(expect.stringMatching(named));
  });

  it('names an event with an earlier time than the one before it', async () => {
    const events = genuine.before.map((event) => ({ ...event }));
    const [first, second] = events;
    if (!first || !second) throw new TypeError('There are too few events.');
    second.timestamp = '2020-01-01T00:00:00.000Z';
    Object.assign(second, { hash: hashOfEvent({ ...second }) });
    const found = await objections(filesOf({ ...genuine, events: [...events, ...genuine.events] }));
    expect(found).toContainEqual(expect.stringMatching(/ has an earlier time than the event "created" .* before it\.$/));
  });

  it.each<[string, (events: NewEvent[]) => void, RegExp]>([
    [
      'is not stated',
      (events) => {
        const { details } = events[approvalIn(events, 'alice')] ?? {};
        events.push(
          anEvent({ event_type: 'approved', originator: 'erin', lifecycle: false, details: details as Record<string, unknown> }),
        );
      },
      /^The statement lacks the approval of "erin": "approved" \(/,
    ],
    [
      'was withdrawn',
      (events) => events.push(anEvent({ ...byBob, event_type: 'approval_withdrawn' })),
      /^The approval of "bob" was taken back before the run: "approval_withdrawn" \(/,
    ],
    [
      'was replaced by a refusal',
      (events) => events.push(anEvent({ ...byBob, event_type: 'approval_refused' })),
      /^The approval of "bob" was taken back before the run: "approval_refused" \(/,
    ],
    [
      'was replaced by one without a signature',
      (events) => approveAgain(events, { signed: false }),
      /^The last approval of "bob" before the run was another one: "approved" \(/,
    ],
    [
      'has limits that the user did not give',
      (events) => approveAgain(events, { cvm_ids: ['cvm-2'] }),
      /^The last approval of "bob" before the run was another one/,
    ],
    [
      'is another one to a reader who takes the first of two values',
      (events) => {
        const [text, event] = [JSON.stringify(events[approvalIn(events, 'bob')]?.details), { ...byBob, event_type: 'approved' }];
        events[approvalIn(events, 'bob')] = anEvent({ ...event, details: Buffer.from(`{"signed":false,${text.slice(1)}`) });
      },
      /^The details of the event "approved" \(.*\) have two values named "signed"\.$/,
    ],
    [
      'nobody gave',
      (events) => events.splice(approvalIn(events, 'dave'), 1),
      /^The journal has no approval of "dave" before the run\.$/,
    ],
    [
      'was signed with a key that the user had replaced',
      (events) => events.push(anEvent({ ...byBob, event_type: 'key_uploaded', details: { fingerprint: 'SHA256:other' } })),
      /^"bob" signed with another key than the last one uploaded before the run: "key_uploaded" \(/,
    ],
    [
      'was signed with a key that the user had never uploaded',
      (events) => events.splice(keyOf(events, 'bob'), 1),
      /^"bob" signed with a key, but the journal has no upload of one before the run\.$/,
    ],
  ])('names whose approval %s, by the journal before the run', async (_what, change, named) => {
    const { given } = inJournal(change);
    expect(await objections(given)).toEqual([expect.stringMatching(named)]);
  });

  it('names an approval with another time than its event, with 5 minutes for clocks', async () => {
    const dated = (approved_at: string) => {
      const made = genuineEvidence(2, { change: (start) => (approvalsOf(start)[3].approved_at = approved_at) });
      return objections(filesOf({ ...made, events: [...made.before, ...made.events] }));
    };
    expect(await dated('2025-07-17T07:56:00.000Z')).toEqual([]);
    expect(await dated('2025-07-07T08:00:00.000Z')).toEqual([
      expect.stringMatching(/^"dave" approved at "2025-07-17T08:00:01\.000Z", not at "2025-07-07T08:00:00\.000Z": "approved" \(/),
    ]);
  });

  it('accepts a signed approval where the upload of its key is among the oldest events, which are missing', async () => {
    const { made } = inJournal(() => undefined);
    const withoutKeys = made.before.slice(made.before.findIndex(({ event_type }) => event_type === 'approved'));
    expect(await objections(filesOf({ ...made, events: [...withoutKeys, ...made.events] }))).toEqual([]);
  });

  it('finds that approvals hold that were withdrawn and given again, as the journal says', async () => {
    const { given } = inJournal((events) => {
      const again = events.filter(({ event_type }) => event_type === 'approved');
      events.push(anEvent({ ...byBob, event_type: 'approval_withdrawn' }), ...again);
    });
    expect(await objections(given)).toEqual([]);
    expect(await sentences(given, 'holds')).toContain(
      'The journal has the same approvals as the last ones before the run: "alice", "bob", "carol", "dave".',
    );
  });

  it('finds an approval that was withdrawn in a journal whose oldest events are missing', async () => {
    const { made } = inJournal((events) => events.push(anEvent({ ...byBob, event_type: 'approval_withdrawn' })));
    expect(await objections(filesOf({ ...made, events: [...made.before.slice(-1), ...made.events] }))).toEqual([
      expect.stringMatching(/^The approval of "bob" was taken back/),
    ]);
    expect(await objections(filesOf(made))).toEqual([]);
  });
});

describe('the check of an attestation', () => {
  const attested = (change: (attestation: Attested) => void, more: Partial<FilesOfTest> = {}) => ({
    ...signedAnew(({ attestation }) => change(attestation as Attested)),
    ...more,
  });
  const other = (change: (report: Buffer) => void) => {
    const { token } = aToken(change);
    return attested(({ tokens: [one] }) => Object.assign(one, { hash: hashOfToken(token) }), { tokens: [token] });
  };

  it('holds if the token gives the stated verdict and satisfies the policy', async () => {
    expect(await sentences(files, 'holds')).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /^The token "[0-9a-f]{64}" is verified as of the start of the run, "2025-07-17T08:00:02\.000Z": a machine of snp with the measurement (ab){48} .*"cvm-1"\. So it is as of now, .*Z\. The service states the same as of "2025-07-17T08:00:00\.000Z"\.$/,
        ),
        'The evidence of the CVM satisfies the attestation policy of the run.',
      ]),
    );
  });

  it('trusts test keys only if they are given', async () => {
    const { roots: _, ...untrusting } = files;
    expect(await objections(untrusting)).toEqual([
      expect.stringMatching(/^The token .* is refused, not verified as the service states\. certificate_chain: /),
      expect.stringMatching(/does not satisfy the attestation policy/),
    ]);
  });

  it('notes tokens that are not given, and objects to one that the statement does not have', async () => {
    const { tokens: _, ...without } = files;
    expect(await objections(without)).toEqual([]);
    expect(await sentences(without, 'not checked')).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^The token .* was not given, so the verdict of the service, verified, was not checked\.$/),
        'Not all tokens were checked, so the attestation policy of the run was not checked.',
      ]),
    );
    expect(await objections({ ...files, tokens: [...files.tokens, Buffer.from('x')] })).toEqual([
      expect.stringMatching(/^The given token .* is none of those of the statement\.$/),
    ]);
  });

  it('objects to a refused token beside one that satisfies the policy, given or not, and to a refusal without checks', async () => {
    const broken = aToken(undefined, { signed: (report) => void report.fill(0xcd, 0x90, 0xc0) });
    const beside = (checks?: object[]) =>
      attested((attestation) => {
        const second = { ...attestation.tokens[0], hash: hashOfToken(broken.token), verdict: 'refused' };
        Object.assign(attestation, { verdict: 'refused', tokens: [attestation.tokens[0], second], ...(checks && { checks }) });
      });
    const unsatisfied = expect.stringMatching(/does not satisfy the attestation policy/);
    const ofAnother = 'The stated checks are not those of a token with the stated verdict.';
    const given = await objections({ ...beside(), tokens: [...files.tokens, broken.token] });
    expect(given).toEqual(expect.arrayContaining([unsatisfied, ofAnother]));
    expect(await objections(beside())).toContainEqual(unsatisfied);
    expect(await objections(beside([]))).toContainEqual(unsatisfied);
  });

  it('objects to a verdict without checks, or with one that failed, whose token is not given', async () => {
    for (const checks of [0, 3]) {
      const given = attested((attestation) => {
        attestation.checks = attestation.checks.slice(0, checks).map((each) => ({ ...each, passed: false }));
      });
      const unsatisfied = expect.stringMatching(/does not satisfy the attestation policy/);
      expect(await objections({ ...given, tokens: [] })).toContainEqual(unsatisfied);
    }
  });

  it('judges a TDX quote by the collateral of the statement, and by no other', async () => {
    const day = String(genuine.statement['issued_at']);
    const overCertificate = (bytes: Buffer) =>
      void createHash('sha512')
        .update(String(genuine.statement['certificate']))
        .digest()
        .copy(bytes, bodyOf(bytes) + 520);
    const { quote, collateral, options } = forgeTdx({ ...currentAt(day), quote: overCertificate });
    const token = Buffer.from(coseOf({ platform_type: 'TDX', raw_report: quote }));
    const stated = (...given: object[]) =>
      attested(({ tokens: [one] }) => Object.assign(one, { hash: hashOfToken(token), collateral: given }), {
        tokens: [token],
        roots: [...(options.roots ?? [])],
      });
    const of = expect.stringMatching(/^The token .* is verified as of the start of the run, .*: a machine of tdx /);
    expect(await sentences(stated({ ...collateral }), 'holds')).toContainEqual(of);
    for (const other of [[], [{ ...collateral, tcb_info: '{' }], [{ ...collateral, tcb_info_signature: '00' }]]) {
      const objection = expect.stringMatching(/^The token .* is refused, not verified as the service states\. collateral: /);
      expect(await objections(stated(...other))).toContainEqual(objection);
    }
    expect(await objections(stated({}))).toContainEqual(expect.stringContaining('collateral.0.root_ca_crl" is missing'));
    const unneeded = expect.stringMatching(/^The token .* has documents of Intel in the statement that it does not need\.$/);
    expect(await objections(stated({ ...collateral }))).not.toContainEqual(unneeded);
    expect(await objections(stated({ ...collateral }, { ...collateral }))).toContainEqual(unneeded);
    const ofSnp = attested(({ tokens: [one] }) => Object.assign(one, { collateral: [collateral] }));
    expect(await objections(ofSnp)).toEqual([unneeded]);
  });

  it.each<[string, FilesOfTest, RegExp]>([
    ['no attestation', signedAnew((statement) => (statement['attestation'] = null)), /policy, and no attestation is stated/],
    [
      'no token',
      attested((attestation) => attestation.tokens.splice(0)),
      /stated verdict is verified, but that of the tokens is none/,
    ],
    [
      'a late time',
      attested(({ tokens: [one] }) => (one.verified_at = '2030-01-01T00:00:00.000Z')),
      /not before the end of the run/,
    ],
    ['no time', attested(({ tokens: [one] }) => (one.verified_at = 'never')), /not before the end of the run/],
    ['half a verdict', attested(({ tokens: [one] }) => (one.verdict = 'not judged')), /a time without a verdict/],
    ['another verdict', attested((attestation) => (attestation.verdict = 'refused')), /stated verdict is refused, but/],
    ['fewer checks', attested((attestation) => attestation.checks.splice(3, 1)), /stated checks are not those of a token/],
    ['a debugged machine', other((report) => report.writeUInt32LE((1 << 19) | (1 << 17) | (1 << 16), 8)), /is refused, .*debug/],
    [
      'another machine',
      other((report) => report.fill(0xcd, 0x90, 0xc0)),
      /does not satisfy the attestation policy .*measurement/,
    ],
  ])('objects to a service that states %s', async (_what, given, named) => {
    expect(await objections(given)).toContainEqual(expect.stringMatching(named));
  });
});

describe('the check of an attestation whose token is given', () => {
  const at = (second: number) => new Date(Date.parse('2025-07-17T08:00:00.000Z') + second * 1000).toISOString();
  const debugging = (report: Buffer) => void report.writeUInt32LE((1 << 19) | (1 << 17) | (1 << 16), 8);
  const overAnother = (report: Buffer) => void report.fill(0xee, 0x50, 0x90);
  type Stated = Record<string, unknown>;
  /** Evidence whose service states a second token, as it likes, beside the genuine one. Both are given. */
  const beside = (second: ReturnType<typeof aToken>, stated: Stated, change?: (statement: Statement) => void) => {
    const made = genuineEvidence(2, {
      tokens: [...files.tokens.map((token) => ({ token })), { token: second.token, ...stated }],
    });
    change?.(made.statement);
    const signature = made.signed(made.statement);
    return { ...filesOf({ ...made, signature }), tokens: [...files.tokens, second.token] };
  };

  it.each<[string, Stated]>([
    ['no verdict', { verdict: 'not judged', verified_at: '' }],
    ['the verdict refused under whatever certificate', { verdict: 'refused' }],
    ['the verdict verified', { verdict: 'verified' }],
    ['another kind', { verdict: 'unsupported', kind: 'azure' }],
    ['a verdict of after the run', { verdict: 'refused', verified_at: at(600) }],
  ])('objects to a token that the policy refuses, and of which the service states %s', async (_what, stated) => {
    for (const change of [debugging, overAnother]) {
      const found = await objections(beside(aToken(change), stated));
      expect(found).toContainEqual(expect.stringMatching(/^The evidence of the CVM does not satisfy the attestation policy/));
    }
  });

  it('counts a token that satisfies the policy and was not judged by the service', async () => {
    const second = aToken();
    const given = beside(second, { verdict: 'not judged', verified_at: '' });
    expect(await objections(given)).toEqual([]);
    expect(await sentences(given, 'note')).toContainEqual(
      expect.stringMatching(/is verified as of .* The service did not judge it\.$/),
    );
    expect(await sentences({ ...given, tokens: files.tokens }, 'not checked')).toContain(
      'Not all tokens were checked, so the attestation policy of the run was not checked.',
    );
  });

  /** Evidence whose token has the report alone, as of an agent that counts on the verifier to have the certificate of the VCEK. */
  const withoutVcek = (
    change: (report: Buffer) => void = () => undefined,
    configure?: (configuration: Configuration) => void,
  ) => {
    const { report, certificates, options } = forgeSnp({
      report: (bytes) => {
        createHash('sha512').update(String(genuine.statement['certificate'])).digest().copy(bytes, 0x50);
        change(bytes);
      },
    });
    const made = genuineEvidence(2, {
      tokens: [{ token: Buffer.from(coseOf({ platform_type: 'SNP', raw_report: report })) }],
      configure,
    });
    const given = filesOf({ ...made, events: [...made.before, ...made.events] });
    return { given: { ...given, roots: [...(options.roots ?? [])] }, certificates };
  };

  it('does not check a token without the certificate of its VCEK, and says so, unless it is given', async () => {
    const { given, certificates } = withoutVcek();
    expect(exitCodeOf(await checkEvidence(given))).toBe(3);
    expect(await sentences(given, 'not checked')).toEqual([
      expect.stringMatching(
        /^The token .* was not checked\. Give what it lacks: certificate_chain: "there is no certificate of the VCEK that signed"\.$/,
      ),
      'Not all tokens were checked, so the attestation policy of the run was not checked.',
    ]);
    expect(exitCodeOf(await checkEvidence({ ...given, certificates }))).toBe(0);
    const free = withoutVcek(undefined, (configuration) => (configuration.attestation_policy = null));
    expect(exitCodeOf(await checkEvidence(free.given))).toBe(0);
  });

  it('objects to a token whose certificate is missing, and which no certificate would make right', async () => {
    for (const change of [debugging, overAnother])
      expect(await objections(withoutVcek(change).given)).toContainEqual(
        expect.stringMatching(/^The token .* is refused, not verified as the service states\./),
      );
  });

  it('does not count a token of Microsoft as verified before the start', async () => {
    const microsofts = Buffer.from(jwtOf({ 'x-ms-attestation-type': 'azurevm' }));
    const made = genuineEvidence(400, {
      tokens: [
        { token: files.tokens[0] ?? Buffer.alloc(0), verified_at: at(592) },
        { token: microsofts, kind: 'azure', verdict: 'unsupported' },
      ],
    });
    const late = 'No token was verified before the start of the run, although its attestation policy demands it.';
    for (const tokens of [made.tokens, made.tokens.slice(0, 1), []])
      expect(await objections({ ...filesOf(made), tokens })).toEqual([late]);
  });

  it('names the tokens that counted at the end of a run whose attestation is not stated', async () => {
    const made = genuineEvidence(2, { configure: (configuration) => (configuration.attestation_policy = null) });
    const statement = { ...made.statement, attestation: null };
    const given = { ...filesOf({ ...made, statement, signature: made.signed(statement) }), tokens: [] };
    expect(await sentences(given, 'note')).toContain(
      `The service verified no attestation of the CVM, and the run demanded none. These tokens counted at its end: "${hashOfToken(made.tokens[0] ?? Buffer.alloc(0))}".`,
    );
  });

  it('does not check the policy without the events of the run, among which the agent may have connected again', async () => {
    const open = (policy: boolean) => {
      const made = genuineEvidence(2, {
        change: (start) => start.assets.forEach((asset) => (asset.use = 'open')),
        configure: (configuration) => policy || (configuration.attestation_policy = null),
      });
      const { events, ...without } = filesOf({ ...made, events: [...made.before, ...made.events] });
      return { without, events };
    };
    const { without, events } = open(true);
    expect(exitCodeOf(await checkEvidence({ ...without, events }))).toBe(0);
    expect(exitCodeOf(await checkEvidence(without))).toBe(3);
    expect(exitCodeOf(await checkEvidence(open(false).without))).toBe(0);
  });

  it('does not check the policy without tokens, and says so', async () => {
    const { tokens: _, ...without } = files;
    expect(exitCodeOf(await checkEvidence(without))).toBe(3);
    const journal = filesOf({ ...genuine, events: [...genuine.before, ...genuine.events] });
    expect(exitCodeOf(await checkEvidence(journal))).toBe(0);
    expect(exitCodeOf(await checkEvidence({ ...journal, tokens: [] }))).toBe(3);
  });

  it.each<[string, Parameters<typeof genuineEvidence>[1], RegExp]>([
    ['hides one of those', { frozen: (hashes) => [...hashes, 'cd'.repeat(32)] }, /^The tokens are not those that counted/],
    ['adds one to those', { frozen: () => [] }, /^The tokens are not those that counted/],
    ['lets the end name none of those', { frozen: () => undefined }, /^The tokens are not those that counted/],
  ])('objects to a statement that %s that counted at the end', async (_what, otherwise, named) => {
    expect(await objections(filesOf(genuineEvidence(2, otherwise)))).toEqual([expect.stringMatching(named)]);
  });

  const dated = (verified_at: string) =>
    signedAnew(({ attestation }) => ((attestation as Attested).tokens[0].verified_at = verified_at));

  it('objects to a verdict after the start where the policy demands one before, with 5 minutes for clocks', async () => {
    const late = 'No token was verified before the start of the run, although its attestation policy demands it.';
    expect(await objections(dated(at(2 + 299)))).not.toContain(late);
    expect(await objections(dated(at(2 + 301)))).toContain(late);
  });

  it('notes a verdict over 30 days before the start', async () => {
    const old = expect.stringMatching(/^The service verified the token .* over 30 days before the run\.$/);
    expect(await sentences(dated(at(-31 * 24 * 3_600)), 'note')).toContainEqual(old);
    expect(await sentences(dated(at(-29 * 24 * 3_600)), 'note')).not.toContainEqual(old);
  });

  it('says that a token is not verified any more as of now, and both times', async () => {
    const now = new Date('2045-01-01T00:00:00.000Z');
    expect(await objections({ ...files, now })).toEqual([]);
    expect(await sentences({ ...files, now }, 'note')).toContainEqual(
      expect.stringMatching(
        /^The token .* is refused as of now, 2045-01-01T00:00:00\.000Z, not verified any more: certificate_validity: /,
      ),
    );
    expect(await sentences({ ...files, now }, 'holds')).toContainEqual(
      expect.stringMatching(/^The token .* is verified as of the start of the run, "2025-07-17T08:00:02\.000Z": /),
    );
  });
});

describe('the times of a run', () => {
  const run = (change: Record<string, string>) => signedAnew(({ run }) => Object.assign(run as object, change));
  it.each<[string, FilesOfTest, RegExp]>([
    ['a start 6 minutes before its event', run({ started_at: '2025-07-17T07:54:00.000Z' }), /run\.started_at/],
    ['an end 6 minutes after its event', run({ ended_at: '2025-07-17T08:06:30.000Z' }), /run\.ended_at/],
    ['an end 23 hours before the start', run({ ended_at: '2025-07-16T09:00:00.000Z' }), /run\.ended_at/],
    ['an issue 6 minutes before the end', signedAnew((each) => (each['issued_at'] = '2025-07-17T07:54:00.000Z')), /issued_at/],
    [
      'an approval 6 minutes after the start',
      signedAnew((each) => (approvalsOf(each)[0]['approved_at'] = '2025-07-17T08:06:10.000Z')),
      /^"alice" approved at .*, which is not before the run\.$/,
    ],
  ])('are out of order: %s', async (_what, given, named) => {
    expect(await objections(given)).toContainEqual(expect.stringMatching(named));
  });

  it('may differ by 4 minutes, for clocks', async () => {
    expect(await objections(run({ started_at: '2025-07-17T07:58:30.000Z', ended_at: '2025-07-17T08:04:00.000Z' }))).toEqual([]);
  });
});

describe('the certificate of a statement', () => {
  it('is named by its fingerprint, without a token too', async () => {
    const fingerprint = String(genuine.statement['certificate_fingerprint']);
    const said = `The CVM "cvm-1" had a certificate with the fingerprint "${fingerprint}".`;
    expect(await sentences({ ...files, tokens: [] }, 'holds')).toContain(said);
    const none = signedAnew((statement) => Object.assign(statement, { certificate: null, certificate_fingerprint: null }));
    expect(await sentences(none, 'holds')).toContain('The CVM "cvm-1" had no certificate.');
  });

  it.each<[string, unknown]>([
    ['another fingerprint', 'cd'.repeat(32)],
    ['no fingerprint', null],
  ])('is refused with %s', async (_what, fingerprint) => {
    const given = signedAnew((statement) => (statement['certificate_fingerprint'] = fingerprint));
    expect(await objections(given)).toEqual([
      expect.stringMatching('The CVM "cvm-1" had a certificate whose fingerprint is not the stated one.'),
    ]);
  });
});

describe('the newest event that an approver saw', () => {
  const withHead = (head: (events: Genuine['before']) => { id: string; hash: string }) => {
    const { before } = genuineEvidence(2);
    const named = head(before);
    const made = genuineEvidence(2, {
      change: ({ approvals: [, , , dave] }) => dave && (dave.journal_head = named),
    });
    return { made, named, given: filesOf({ ...made, events: [...made.before, ...made.events] }) };
  };
  const first = ([event]: Genuine['before']) => ({ id: event?.id ?? '', hash: event?.hash ?? '' });

  it('is in the journal with its hash, or it was another journal', async () => {
    const { given, made } = withHead(first);
    expect(await objections(given)).toEqual([]);
    expect(await sentences(given, 'holds')).toContainEqual(
      expect.stringMatching(/^The newest event that "dave" saw before approving, .* this is the journal that the user saw\.$/),
    );
    const partly = filesOf({ ...made, events: [...made.before.slice(1), ...made.events] });
    for (const open of [partly, { ...given, events: [] }])
      expect(await sentences(open, 'not checked')).toContainEqual(expect.stringMatching(/"dave" saw before approving/));
  });

  it.each([
    ['has another hash', (events: Genuine['before']) => ({ ...first(events), hash: 'cd'.repeat(32) })],
    ['comes after the approval', (events: Genuine['before']) => first(events.slice(-1))],
  ])('is none of the journal if it %s', async (_what, head) => {
    expect(await objections(withHead(head).given)).toContainEqual(
      expect.stringMatching(/^The newest event that "dave" saw .* the user saw another journal\.$/),
    );
  });
});

describe(`a member of a statement (seed ${sampleSeed})`, () => {
  const members = membersOf(genuine.statement);
  const missed = async (paths: string[], how: 'absent' | 'null') => {
    const said = await Promise.all(paths.map((path) => objections(signed(without(genuine.statement, path, how)))));
    return paths.filter((path, index) => !said[index]?.some((sentence) => namesMember(path).test(sentence)));
  };

  it('is one of more than 100, those of each event, asset and approval included', async () => {
    expect(members.length).toBeGreaterThan(100);
    expect(members).toEqual(expect.arrayContaining(['service_version', 'events.last.hash', 'assets.2.use', 'approvals.3.key']));
  });

  it('is required, and may be null only as docs/contract.md says', async () => {
    const some = sampled(members);
    expect(await missed(some, 'absent')).toEqual([]);
    expect(await missed(some, 'null')).toEqual(some.filter((path) => mayBeNull.test(path)));
  });
});

describe(`the sentences of the check (seed ${sampleSeed})`, () => {
  const mark = 'x" EVIL, "y';
  const withMark = (text: string) =>
    textsIn(JSON.parse(text)).map((path) => {
      const changed = structuredClone(JSON.parse(text)) as Record<string, unknown>;
      const [name = '', ...above] = [...path].reverse();
      above.reduceRight((parent, each) => parent[each] as Record<string, unknown>, changed)[name] = mark;
      return JSON.stringify(changed);
    });
  const textsIn = (value: unknown, path: string[] = []): string[][] => {
    if (typeof value === 'string') return [path];
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, inner]) => textsIn(inner, [...path, name]));
  };

  it('quote every text of others, wherever it stands', async () => {
    const all: FilesOfTest[] = [
      ...sampled(withMark(JSON.stringify(genuine.statement))).map((text) => signed(JSON.parse(text) as object)),
      ...sampled(withMark(files.evidence)).map((evidence) => ({ ...files, evidence })),
      ...withMark(files.keys).map((keys) => ({ ...files, keys })),
      ...sampled(withMark(files.events[0] ?? '')).map((page) => ({ ...files, events: [page] })),
      ...(['evidence', 'keys'] as const).flatMap((name) => [mark, `{"${mark}": 1}`].map((text) => ({ ...files, [name]: text }))),
      { ...files, evidence: '{"a\\" approved": 1, "a\\" approved": 1}' },
    ];
    const told = all.map(async (given) => {
      try {
        return (await checkEvidence(given)).map(({ sentence }) => sentence);
      } catch (error) {
        return [(error as UnreadableError).message];
      }
    });
    const said = (await Promise.all(told)).flat();
    const outside = said.map((sentence) => sentence.replace(/"(?:[^"\\]|\\.)*"/g, ''));
    expect(outside.filter((sentence) => /"|EVIL/.test(sentence))).toEqual([]);
    expect(said.filter((sentence) => sentence.includes('EVIL')).length).toBeGreaterThan(amount({ sample: 10, full: 50 }));
  });
});

describe('the check of a statement of a computation that takes the approval of all', () => {
  const creators = (statement: Statement, names: string[]) =>
    (statement['assets'] as { creator: string }[]).forEach((asset, index) => (asset.creator = names[index] ?? ''));
  const taken = (level: ApprovalLevel, change: (statement: Statement) => void = () => undefined) => {
    const started = (start: Statement) => {
      creators(start, ['alice', 'bob', 'carol']);
      change(start);
    };
    return filesOf(genuineEvidence(8, { level, change: started }));
  };

  it.each(['all', 'all_signed'] as const)('holds if all creators and result consumers gave it: %s', async (level) => {
    expect(await objections(taken(level))).toEqual([]);
    expect(await sentences(taken(level), 'holds')).toContainEqual(
      expect.stringMatching(/all result consumers approved.*: with a signature "alice", "bob", "carol"\.$/),
    );
  });

  it('says whose approval has nothing but the word of the service', async () => {
    const given = taken('all', (statement) => creators(statement, ['alice', 'bob', 'dave']));
    expect(await sentences(given, 'holds')).toContainEqual(
      expect.stringMatching(/: with a signature "alice", "bob"; by the word of the service alone "dave"\.$/),
    );
  });

  it.each<[string, FilesOfTest, RegExp]>([
    [
      'a creator who gave none',
      taken('all', (statement) => approvalsOf(statement).splice(2, 1)),
      /of all, and "carol" gave none/,
    ],
    [
      'a result consumer who gave none',
      taken('all', (statement) => (statement['result_consumers'] = ['erin'])),
      /of all, and "erin" gave none/,
    ],
    [
      'one without a signature',
      taken('all_signed', (statement) => creators(statement, ['alice', 'bob', 'dave'])),
      /that of "dave" has no signature/,
    ],
    [
      'one whose signature has no key',
      signedAnew((statement) => {
        creators(statement, ['alice', 'bob', 'carol']);
        statement['approval'] = 'all_signed';
        approvalsOf(statement)[2]['key'] = null;
      }),
      /that of "carol" has no signature/,
    ],
    [
      'a result consumer whose key is another one',
      taken('all_signed', (statement) => (statement['result_consumers'] = ['bob'])),
      /^"bob" signed with a key other than that of this result consumer/,
    ],
    [
      'more consumers than keys',
      taken('all', (statement) => (statement['result_consumers'] = ['alice', 'bob'])),
      /numbers differ/,
    ],
    ['an unknown level', signedAnew((statement) => (statement['approval'] = 'most')), /does not have the form .*"approval"/],
  ])('names who did not give it, or what does not fit: %s', async (_what, given, named) => {
    expect(await objections(given)).toContainEqual(expect.stringMatching(named));
  });
});

describe('the check of an approval that expires after the run began', () => {
  it('holds if the time is that of another zone', async () => {
    const given = startedWith((start) => (approvalsOf(start)[3]['expires_at'] = '2025-07-17T06:00:00-03:00'));
    expect(await objections(given)).toEqual([]);
    const another = startedWith((start) => (approvalsOf(start)[3]['expires_at'] = '2025-07-17 08:59:60z'));
    expect(await objections(another)).toEqual([]);
  });
});

describe('the check of a journal', () => {
  const withEvents = (events: unknown[]) => ({ ...files, events: [JSON.stringify(events)] });

  it('notes that the oldest events are missing', async () => {
    const journal = [...genuine.before, ...genuine.events];
    for (let dropped = 1; dropped <= genuine.before.length; dropped++) {
      const given = withEvents(journal.slice(dropped));
      expect(await objections(given)).toEqual([]);
      const { event_type, id } = journal[dropped] ?? genuine.after[0] ?? { event_type: '', id: '' };
      // The last decisions of alice and bob, whose assets demand approvals, are the events 5 and 6.
      expect(await sentences(given, dropped <= 4 ? 'note' : 'not checked')).toContain(
        `The events before "${event_type}" ("${id}") are missing, so they were not checked.`,
      );
    }
  });

  it('finds missing events in pages that count them', async () => {
    const newestFirst = [...genuine.before, ...genuine.events, ...genuine.after].toReversed();
    const { length } = newestFirst;
    const page = (events: unknown[], counts: object) =>
      objections({ ...files, events: [JSON.stringify({ events, limit: 100, offset: 0, ...counts })] });
    expect(await page(newestFirst, { total: length })).toEqual([]);
    const missing = `The page at offset 0 has ${length - 1} events, but says that it has ${length}: an event is missing.`;
    expect(await page(newestFirst.slice(0, -1), { total: length })).toContain(missing);
    expect(await page(newestFirst.slice(1), { total: length })).toEqual([missing]);
    expect(await page(newestFirst, { total: length - 1 })).toContainEqual(expect.stringMatching(/an event was added\.$/));
    const pretended =
      /^The events before "key_uploaded" .* are missing, .* although the pages say that they reach the beginning .*, or the events were read with a filter/;
    expect(await page(newestFirst.slice(0, -1), { total: length - 1 })).toContainEqual(expect.stringMatching(pretended));
    const oldestFirst = newestFirst.toReversed().slice(1);
    expect(await page(oldestFirst, { total: length - 1 })).toContainEqual(expect.stringMatching(pretended));
    expect(await page(oldestFirst, { total: length })).toEqual([]); // a page of `after` does not say that it is whole
  });

  it('accepts pages of `after`, oldest first, between which the journal has grown', async () => {
    const journal = [...genuine.before, ...genuine.events, ...genuine.after];
    const page = (from: number, to: number) =>
      JSON.stringify({ events: journal.slice(from, to), limit: 4, offset: 0, total: Math.max(to, 9) });
    const pages = [page(0, 4), page(4, 8), page(8, 12), page(12, journal.length)];
    expect(await objections({ ...files, events: pages })).toEqual([]);
    expect((await sentences({ ...files, events: pages }, 'note')).join()).not.toContain('are missing');
    expect(await objections({ ...files, events: pages.toSpliced(1, 1) })).not.toEqual([]);
  });

  it('accepts pages in any order, newest or oldest first, and still finds that one is missing', async () => {
    const oldestFirst = genuineEvidence(250);
    const journal = [...oldestFirst.before, ...oldestFirst.events];
    for (const events of [journal, journal.toReversed()]) {
      const pages = Array.from({ length: Math.ceil(journal.length / 20) }, (_, index) =>
        events.slice(index * 20, index * 20 + 20),
      );
      const files = pages.map((page) => JSON.stringify(page));
      const byName = files
        .map((file, index) => [`events-${index + 1}.json`, file] as const)
        .sort(([one], [other]) => (one < other ? -1 : 1));
      const given = byName.map(([, file]) => file);
      expect(given).not.toEqual(files);
      expect(await objections({ ...filesOf(oldestFirst), events: given })).toEqual([]);
      expect(await objections({ ...filesOf(oldestFirst), events: given.toSpliced(6, 1) })).toContainEqual(
        expect.stringMatching(/does not follow the event .*: an event between them is missing/),
      );
    }
  });

  it('names the place of an event that lacks a member', async () => {
    for (const member of Object.keys(genuine.events[4] ?? {})) {
      const given = genuine.events.map((event, index) =>
        index === 4 ? Object.fromEntries(Object.entries(event).filter(([name]) => name !== member)) : event,
      );
      expect(await objections(withEvents(given))).toEqual(['The event at place 5 does not have the form of an event.']);
    }
  });

  it('names the place of an entry that is no event', async () => {
    expect(await objections(withEvents([...genuine.events, 7]))).toEqual([
      'The event at place 11 does not have the form of an event.',
    ]);
  });
});

describe('an unreadable file', () => {
  const cases: [string, Partial<FilesOfTest>, RegExp][] = [
    ['text', { evidence: 'no' }, /^The evidence is not JSON/],
    ['an empty file of keys', { keys: '' }, /^The file of keys is not JSON/],
    ['another object', { evidence: '{}' }, /^The evidence has another form than expected: "statement" is missing/],
    ['keys without a list', { keys: '{"keys": 1}' }, /^The file of keys has another form than expected: "keys": expected Array/],
    ['events without a list', { events: ['{"total": 1}'] }, /^The file of events has another form/],
    [
      'a member that occurs twice',
      { evidence: '{"key_id":"a","statement":{"a":{"b":1,"\\u0062":2}},"signature":""}' },
      /two values named "b"/,
    ],
    [
      'a text without a UTF-8 form',
      { evidence: '{"statement":{"a":"\\ud800"},"signature":"","key_id":""}' },
      /has no canonical form/,
    ],
  ];
  it.each(cases)('is named: %s', async (_what, given, message) => {
    await expect(checkEvidence({ ...files, ...given })).rejects.toThrow(
      expect.objectContaining({ message: expect.stringMatching(message) }),
    );
    await expect(checkEvidence({ ...files, ...given })).rejects.toThrow(UnreadableError);
  });

  it('is not one with a string that looks like repeated members, or with the same member in two objects', async () => {
    const description = '"a": 1, "a": {"b": [{"c"';
    const changed = { ...genuine.statement, note: [description, { a: 1 }, { a: 2 }], a: description };
    expect(await objections(signed(changed))).toEqual([
      'The statement has a member "note", which nobody checks.',
      'The statement has a member "a", which nobody checks.',
    ]);
  });
});

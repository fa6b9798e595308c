import { ok as ensure } from 'node:assert';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureEnd, type RehearsalCase } from './cases.ts';
import type { RehearsalWorld } from './rehearsal-world.ts';
import type { RehearsedParty } from './rehearsed-party.ts';

const penguins = join(import.meta.dirname, '../../tools/demo/data/penguins.csv');

/** Counts penguins by species and sex. @param which a condition of awk */
const counting = (which: string) => `#!/bin/sh
awk -F, 'NR > 1 && ${which} { n[$1 "," $7]++ } END { print "species,sex,count"; for (cell in n) print cell "," n[cell] }' \\
  datasets/penguins.csv > results/counts.csv
`;

/** The answer of the agent to whom it owes no result. */
const refusal = /The agent refused the result: signature verification failed\. The key is not the one of the manifest\./;

/** Runs a command of a party. @returns its exit code, and what it printed */
async function said(party: RehearsedParty, ...args: string[]): Promise<{ code: number; text: string }> {
  return await party.cms(...args).then(
    ({ stdout, stderr }) => ({ code: 0, text: stderr + stdout }),
    (error: unknown) => {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, text: stderr + stdout };
    },
  );
}

/** Ensures that a command of a party ends with this code and says this. */
async function ensureSaid(party: RehearsedParty, args: string[], code: number, expected: RegExp): Promise<string> {
  const found = await said(party, ...args);
  ensure(found.code === code && expected.test(found.text), `cms ${args[0]} ended with ${found.code}: ${found.text}`);
  return found.text;
}

/** Completes a run whose result rita and rob review for carol. The agent gives it to no one else: not to carol, nor to the owner, alice. */
async function untilReviewed(world: RehearsalWorld, which: string, needed: number) {
  const { id: cvm } = await world.cvm();
  const fields = { approval: 'all_signed', consumers: ['carol'], result_review: { reviewers: ['rita', 'rob'], needed } };
  const run = await world.computation({ algorithm: counting(which), datasets: 0, fields });
  const { computationId: id, alice } = run;
  const bob = await world.party('bob', 'dataset_provider');
  const [rita, rob] = [await world.party('rita', 'viewer'), await world.party('rob', 'viewer')];
  const carol = await world.party('carol', 'result_consumer');
  await bob.cms('asset', 'upload', penguins, '--type', 'dataset', '--computation', id);
  await Promise.all([bob, rita, rob, carol].map((party) => party.cms('key', 'upload', party.publicKey, id)));
  await Promise.all([alice, bob, rita, rob, carol].map((party) => party.cms('approve', id, '--sign', party.key[1], '--yes')));
  await run.startUnapproved(cvm);
  await Promise.all([run.upload(), bob.cms('send', penguins, '--computation', id, ...bob.key, '--unbound')]);
  const end = await ensureEnd(world, run, 'completed');
  for (const party of [carol, alice]) {
    const output = join(party.directory, 'direct.zip');
    await ensureSaid(party, ['result', id, ...party.key, '--unbound', '--output', output], 12, refusal);
    ensure(!existsSync(output), 'The agent gave the result to a consumer.');
  }
  await ensureSaid(carol, ['result', id], 6, /no reviewer has handed it in\. Its reviewers are rita, rob\./);
  const check = ['--check', `${world.python} ${join(import.meta.dirname, 'check-counts.py')}`];
  return { id, rita, rob, carol, end, check };
}

/** Saves the evidence of the run, and verifies it with the statement about its result. @returns the statement */
async function verifiedStatement(party: RehearsedParty, id: string, decision: string): Promise<{ checksum: string }> {
  const directory = join(party.directory, 'evidence');
  await party.cms('evidence', id, '--output', directory);
  const { stdout } = await party.cms('verify', directory);
  for (const reviewer of ['rita', 'rob']) {
    ensure(stdout.includes(`"${reviewer}" decided to ${decision} the result, signed by the key`), `cms verify said: ${stdout}`);
  }
  ensure(stdout.includes('The journal has the same file, decisions and end of the review.'), `cms verify said: ${stdout}`);
  const { statement } = JSON.parse(readFileSync(join(directory, 'result.json'), 'utf8')) as { statement: { checksum: string } };
  return statement;
}

/** Rob fetches the result from the agent himself, and hands in nothing else than rita. */
async function released(world: RehearsalWorld): Promise<string> {
  const { id, rita, rob, carol, end, check } = await untilReviewed(world, '$7 != "NA"', 2);
  const [ofRita, ofRob] = [join(rita.directory, 'result.zip'), join(rob.directory, 'result.zip')];
  const first = ['review', id, ...rita.key, '--unbound', '--output', ofRita, ...check, '--release'];
  await ensureSaid(rita, first, 0, /acro: pass\.[^]*You release the result, signed\. It is under_review\./);
  await ensureSaid(carol, ['result', id], 6, /under review/);
  await rob.cms('result', id, ...rob.key, '--unbound', '--output', ofRob);
  const second = ['review', id, ...rob.key, '--file', ofRob, ...check, '--release'];
  await ensureSaid(rob, second, 0, /acro: pass\.[^]*You release the result, signed\. It is released\./);
  const output = join(carol.directory, 'result.zip');
  await carol.cms('result', id, '--output', output);
  const bytes = readFileSync(output);
  ensure(bytes.equals(readFileSync(ofRita)), 'The consumer got other bytes than the reviewer.');
  const { checksum } = await verifiedStatement(carol, id, 'release');
  ensure(checksum === createHash('sha3-256').update(bytes).digest('hex'), 'The statement is about another file.');
  return `${end} acro passed it twice. The consumer got what the agent gave to the reviewers, as the statement says.`;
}

async function withheld(world: RehearsalWorld): Promise<string> {
  const { id, rita, rob, carol, end, check } = await untilReviewed(world, '1', 1);
  const review = (party: RehearsedParty) => [
    'review',
    id,
    ...party.key,
    '--unbound',
    '--output',
    join(party.directory, 'result.zip'),
  ];
  await ensureSaid(rita, [...review(rita), ...check, '--release'], 2, /acro: fail\.[^]*MinimumThresholdCheck/);
  await ensureSaid(carol, ['result', id], 6, /no reviewer has handed it in/);
  await ensureSaid(rita, [...review(rita), ...check, '--withhold'], 0, /You withhold the result, signed\. It is under_review\./);
  await ensureSaid(rob, [...review(rob), ...check, '--withhold'], 0, /acro: fail\.[^]*It is withheld\./);
  const why = await ensureSaid(
    carol,
    ['result', id],
    6,
    /The reviewers withhold the result\.\nrita: withhold, "Check .*acro: fail/,
  );
  await verifiedStatement(carol, id, 'withhold');
  ensure(!existsSync('result.zip'), 'The consumer got a withheld result.');
  return `${end} acro failed it. A release without --yes handed in nothing. The consumer reads: ${why.trim()}`;
}

/** The cases of results that reviewers check with acro. */
export const reviewedCases: RehearsalCase[] = [
  { name: 'released', play: released },
  { name: 'withheld', play: withheld },
];

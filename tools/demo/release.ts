import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok as ensure } from 'node:assert';
import { type KeyObject, sign } from 'node:crypto';
import { type Client, pause, type Schemas, sizeText } from 'computation-management-client';
import { downloadAsset, uploadResult } from 'computation-management-client/node';
import { decisionText } from 'computation-management-formats/consent';
import { checkEvidence, exitCodeOf, formatFindings, sumOf } from 'computation-management-verify';
import type { Cast } from './prepare.ts';
import { step } from './runs.ts';

interface ReviewedRun {
  baseUrl: string;
  domain: string;
  id: string;
  run: string;
  /** The private key with which the reviewer signs the decision. Its public half is in the manifest of the run. */
  reviewerKey: KeyObject;
}

/** Has the result of a run reviewed and released, and checks that its consumer gets the same file, with evidence that holds. */
export async function releaseResult(cast: Cast, run: ReviewedRun): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'demo-'));
  try {
    const checksum = await reviewResult(cast, run, join(folder, 'result.zip'));
    await receiveResult(cast, run, { file: join(folder, 'received.zip'), checksum });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Fetches the result of a run as its reviewer, and releases it. @returns the checksum of the result */
async function reviewResult(
  { reviewer, consumer }: Cast,
  { baseUrl, domain, id, run, reviewerKey }: ReviewedRun,
  file: string,
): Promise<string> {
  let checksum = '';
  let asset = '';
  await step('reviewer', 'fetches the result from the CVM', async () => {
    const answer = await fetch(`${baseUrl}/local/results/${run}`);
    ensure(answer.ok, 'the simulated CVM has no result');
    const content = Buffer.from(await answer.arrayBuffer());
    await writeFile(file, content);
    return `result.zip, ${sizeText(content.length)}, made up by the simulated CVM`;
  });
  await step('reviewer', 'hands it in', async () => {
    const handedIn = await uploadResult(reviewer, { id, run, file, file_name: 'result.zip' });
    ({ id: asset } = handedIn);
    checksum = handedIn.checksum ?? '';
    await untilUnderReview(reviewer, id, run);
    return `SHA3-256 ${checksum.slice(0, 16)}…`;
  });
  await step('consumer', 'asks for the result', async () => {
    const { content_withheld, asset: content, download } = await consumer.getAsset({ id: asset });
    const isWithheld = content_withheld === true && content === undefined && download === undefined;
    ensure(isWithheld, 'the service gives a result that nobody has released');
    return 'its content is withheld until it is released';
  });
  await step('reviewer', 'releases it, signed', async () => {
    const { manifest_digest } = await reviewer.getRun({ id, run });
    const decision = { decision: 'release', checksum, note: 'It names hashes, and no penguin.' } as const;
    const text = decisionText({ domain, computation: id, run, reviewer: 'reviewer', manifest_digest, ...decision });
    const signature = sign(null, Buffer.from(text), reviewerKey).toString('base64');
    const { result } = await reviewer.decideResult({ id, run, body: { ...decision, signature } });
    ensure(result?.state === 'released', `the result is ${result?.state ?? 'missing'}, not released`);
    return result.state;
  });
  return checksum;
}

/** Downloads a released result as its consumer, and verifies the statements about the run and its result. */
async function receiveResult(
  { consumer }: Cast,
  { id, run }: ReviewedRun,
  { file, checksum }: { file: string; checksum: string },
): Promise<void> {
  let result: Schemas['ResultEvidence'] | undefined;
  await step('consumer', 'downloads the result', async () => {
    result = await consumer.getResult({ id, run });
    const { statement } = result;
    await downloadAsset(consumer, { id: statement.asset, file }); // compares the hash of the file
    ensure(statement.checksum === checksum, 'the statement names another file');
    return `${sizeText((await readFile(file)).length)}, as its signed statement says`;
  });
  await step('consumer', 'verifies run and result', async () => {
    const text = async (answer: Promise<object>) => JSON.stringify(await answer);
    const findings = await checkEvidence({
      evidence: await text(consumer.getEvidence({ id, run })),
      keys: await text(consumer.jwks()),
      events: [await text(consumer.listEvents({ id, limit: 100 }))],
      result: JSON.stringify(result),
    });
    ensure(exitCodeOf(findings) === 0, formatFindings(findings));
    return sumOf(findings);
  });
}

const pauseInMilliseconds = 100;

async function untilUnderReview(client: Client, id: string, run: string): Promise<void> {
  while ((await client.getRun({ id, run })).result?.state === 'awaiting_file') await pause(pauseInMilliseconds);
}

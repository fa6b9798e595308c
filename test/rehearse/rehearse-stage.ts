import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onEmulatedStage, type Place, type StageToRehearse, step } from './emulated-stage.ts';
import { askEmulator, type EmulatorAddress, linesOfFunctions } from './emulator-client.ts';
import { type Emulator, exitCodeOf, runCommand, tailOf } from './emulator.ts';
import { describeVerdict, judge, type Verdict } from './verdict.ts';

export interface SuiteRun {
  emulator: Emulator;
  url: string;
  /** Tokens by the name of the person in the suite. */
  tokens: Record<string, string>;
  folder: string;
}

/** Runs the end-to-end suite as against any deployed stage. */
async function runSuite({ emulator, url, tokens, folder }: SuiteRun): Promise<Verdict> {
  const results = join(folder, 'suite.json');
  const logFile = join(folder, 'suite.log');
  const given = Object.entries(tokens).flatMap(([person, token]) => ['--token', `${person}=${token}`]);
  await exitCodeOf({
    words: ['npm', 'run', '--silent', 'test:deployed', '--', '--url', url, ...given, '--results', results],
    environment: emulator.contentEnvironment,
    logFile,
  });
  try {
    return judge(JSON.parse(readFileSync(results, 'utf8')));
  } catch {
    throw new Error(`The suite left no results:\n\n${tailOf(logFile)}`);
  }
}

/** Sends mail by SES, which refuses a sender that is not verified. @throws Error unless SES then has the mail, as it was sent */
async function sendMail({ address, contentEnvironment, awsEnvironment }: Emulator, folder: string): Promise<void> {
  const logFile = join(folder, 'send-mail.log');
  const send = async (from: string) => {
    const words = ['node', 'test/rehearse/send-mail.ts', from] as const;
    await runCommand({ words: [...words], environment: { ...awsEnvironment, ...contentEnvironment }, logFile });
    return readFileSync(logFile, 'utf8');
  };
  const refused = await send('computations@example.com');
  if (!refused.includes('MessageRejected')) throw new Error(`A sender that is not verified was not refused: ${refused}`);
  const authorization = `AWS4-HMAC-SHA256 Credential=test/20260101/${address.region}/ses/aws4_request, SignedHeaders=host, Signature=0`;
  const headers = { authorization, 'content-type': 'application/json' };
  const identity = JSON.stringify({ EmailIdentity: 'example.com' });
  await askEmulator(address, { path: '/v2/email/identities', headers, body: identity });
  const answer = await send('computations@example.com');
  const { text } = await askEmulator(address, { path: '/_ministack/ses/messages', headers });
  const { messages } = JSON.parse(text) as { messages: Record<string, { To: string[]; Subject: string; BodyText: string }[]> };
  const [mail, ...others] = Object.values(messages).flat();
  const isMail = mail?.To[0] === 'reader@example.com' && mail.Subject === '1 task waits for you' && mail.BodyText === 'Grüße';
  if (!isMail || others.length > 0) throw new Error(`The mail did not arrive: ${answer}${text}`);
}

/** Runs the end-to-end suite on a stage on the emulator. @throws Error if a step fails, or a case that is not listed in verdict.ts */
export async function rehearseStage(stage: StageToRehearse, place: Place): Promise<void> {
  const { folder } = place;
  let verdict: Verdict | undefined;
  let purge: CallsOfPurge | undefined;
  await onEmulatedStage(stage, place, async ({ emulator, url, tokens }) => {
    verdict = await step('Running the end-to-end suite', () => runSuite({ emulator, url, tokens, folder }));
    writeFileSync(join(folder, 'function-errors.log'), (await linesOfFunctions(emulator.address, 'ERROR')).join('\n'));
    purge = await callsOfPurge(emulator.address);
    await step('Sending a mail by SES', () => sendMail(emulator, folder));
  });
  if (!verdict || !purge) return;
  console.log(describeVerdict(verdict));
  console.log(`Deletions that left work to the purge: ${purge.left.length}, of which ${purge.refused.length} could not call it`);
  if (verdict.failed.length > 0) throw new Error('Cases failed that are not listed in test/rehearse/verdict.ts.');
  if (purge.refused.length > 0) throw new Error(`Deletions could not call the purge:\n\n${purge.refused.join('\n')}`);
}

/** The entries about the purge in the logs of the functions that delete. */
interface CallsOfPurge {
  left: string[];
  refused: string[];
}

async function callsOfPurge(emulator: EmulatorAddress): Promise<CallsOfPurge> {
  return {
    left: await linesOfFunctions(emulator, 'The purge continues in the background'),
    refused: await linesOfFunctions(emulator, 'The purge could not be called'),
  };
}

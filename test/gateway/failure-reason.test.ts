import { describe, expect, it } from 'vitest';
import { FailureReason } from '../../gateway/wire/failure-reason.ts';
import type { Manifest } from '../../shared/rows/manifest.ts';

const computation_id = 'c';
const approved = 'ab'.repeat(32);
const other = 'cd'.repeat(32);
const hash = Array.from({ length: 32 }, () => 0xab);
const key = { hash, user_key: 'AAAA' };
const fetched = { ...key, source: { url: 'https://example.com/file' }, kbs: { enabled: true as const } };

/** A manifest of which the algorithm and three datasets are fetched, and `pushed.csv` is not. */
const manifest: Manifest = {
  id: computation_id,
  name: 'n',
  description: '',
  algorithm: fetched,
  datasets: [
    { ...fetched, filename: 'a.csv' },
    { ...fetched, filename: 'a.csv: b' },
    { ...fetched, filename: 'two words' },
    { ...key, filename: 'pushed.csv' },
  ],
  result_consumers: [{ user_key: 'AAAA' }],
};

const line = (message: string, { level = 'ERROR', nanos = 1, of = computation_id } = {}) => ({
  message,
  level,
  computation_id: of,
  timestamp: { seconds: '1', nanos },
});

const find = async (failure: FailureReason) => await failure.find(() => Promise.resolve(manifest));

/** Returns the failure that one line tells, before the algorithm may have begun. */
async function reasonOf(message: string, options: Parameters<typeof line>[1] = {}) {
  const failure = new FailureReason(computation_id);
  failure.read(line(message, options));
  return await find(failure);
}

const failed = 'failed to download and decrypt';
const key401 = 'failed to fetch key from KBS at https://kbs/kbs/v0/resource/a/b/c: KBS returned status 401';

describe('the reason of a failure while the agent fetches files', () => {
  it.each([
    [
      `dataset a.csv hash mismatch: expected ${approved}, got ${other}`,
      `a.csv with the hash ${other}, but ${approved} was approved.`,
    ],
    [
      `algorithm hash mismatch: expected ${approved}, got ${other}`,
      `the algorithm with the hash ${other}, but ${approved} was approved.`,
    ],
    [
      `dataset two words hash mismatch: expected ${approved}, got ${other}`,
      `"two words" with the hash ${other}, but ${approved} was approved.`,
    ],
  ])('names the changed file and both hashes: %s', async (text, reason) => {
    expect(await reasonOf(text)).toEqual({ reason: `The agent fetched ${reason}`, reason_code: 'input_changed' });
  });

  it.each([
    [
      `${failed} dataset a.csv: failed to download resource from https://example.com/file: HTTP request returned status 404: 404 SECRET`,
      'The agent could not fetch a.csv: the server answered with the status 404.',
    ],
    [
      `${failed} dataset a.csv: b: failed to download resource from https://example.com/file: HTTP request returned status 500: 500`,
      'The agent could not fetch "a.csv: b": the server answered with the status 500.',
    ],
    [
      `${failed} algorithm: failed to retrieve decryption key from KBS: ${key401}`,
      'The agent got no key for the algorithm: the key broker answered with the status 401.',
    ],
    [`${failed} algorithm: failed to retrieve decryption key from KBS: SECRET`, 'The agent got no key for the algorithm.'],
    [`${failed} dataset a.csv: failed to decrypt resource: SECRET`, 'The agent could not decrypt a.csv.'],
    [`${failed} dataset a.csv: SECRET`, 'The agent could not fetch a.csv.'],
    ['failed to unzip dataset a.csv: SECRET', 'The agent could not unpack a.csv.'],
  ])('is a sentence of the service: %s', async (text, reason) => {
    expect(await reasonOf(text)).toEqual({ reason });
  });

  it.each([
    ['of a file that the manifest lacks', `dataset SECRET hash mismatch: expected ${approved}, got ${other}`],
    ['of a file that is not fetched', `dataset pushed.csv hash mismatch: expected ${approved}, got ${other}`],
    ['with another approved hash', `dataset a.csv hash mismatch: expected ${other}, got ${approved}`],
    ['with two equal hashes', `dataset a.csv hash mismatch: expected ${approved}, got ${approved}`],
    ['with more behind it', `dataset a.csv hash mismatch: expected ${approved}, got ${other} SECRET`],
    ['of another kind', 'failed to send log'],
    ['about an exit code', 'failed to run computation: algorithm execution error: exit status 3'],
  ])('is none in a line %s', async (_, text) => {
    expect(await reasonOf(text)).toBeUndefined();
  });

  it.each([{ level: 'WARN' }, { level: 'DEBUG' }, { of: '' }, { of: 'another computation' }])(
    'is none in a line of something else than the agent: %j',
    async (options) => {
      expect(await reasonOf(`dataset a.csv hash mismatch: expected ${approved}, got ${other}`, options)).toBeUndefined();
    },
  );

  it('is read from the pieces of a line', async () => {
    const failure = new FailureReason(computation_id);
    failure.read(line('dataset a.csv hash mismatch: expected ', { nanos: 2 }));
    failure.read(line(`${approved}, got ${other}`, { nanos: 2 }));
    failure.read(line('failed to send log', { nanos: 3 }));
    expect(await find(failure)).toMatchObject({ reason_code: 'input_changed' });
  });
});

describe('the reason of a failure once the algorithm may have begun', () => {
  const text = `dataset a.csv hash mismatch: expected ${approved}, got ${other}`;

  it.each(['Running', 'AlgorithmRun', 'ConsumingResults', 'Complete'])('is in no line about files, after %s', async (name) => {
    const before = new FailureReason(computation_id);
    before.read(line(text));
    before.note(name);
    expect(await find(before)).toBeUndefined();
    const later = new FailureReason(computation_id);
    later.note(name);
    for (const level of ['WARN', 'ERROR']) later.read(line(text, { level }));
    expect(await find(later)).toBeUndefined();
  });

  it.each([
    [0, 'exit status 0'],
    [3, 'exit status 3'],
    [255, 'exit status 255'],
  ])('is the exit code %d', async (code, status) => {
    expect(await afterRunning(`algorithm execution error: ${status}`)).toEqual({
      reason: `The algorithm ended with the exit code ${code}.`,
    });
  });

  it.each([
    'exit status 256',
    'exit status 999',
    'exit status 3 SECRET',
    'exit status SECRET',
    'signal: killed',
    'exit status 17171717',
  ])('is nothing else: %s', async (status) => {
    expect(await afterRunning(`algorithm execution error: ${status}`)).toBeUndefined();
  });

  async function afterRunning(cause: string) {
    const failure = new FailureReason(computation_id);
    failure.note('Running');
    failure.read(line(`failed to run computation: ${cause}`, { level: 'WARN' }));
    return await find(failure);
  }
});

import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { localCredentials } from '../../../local/machine/environment.ts';
import { localKms } from '../../../local/machine/kms.ts';
import type { Listening } from '../../../local/machine/listen.ts';
import { forgetClients, replaceClient, keysInKms } from '../../../shared/runtime/clients.ts';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import { isOver } from '../../../shared/http/wait.ts';
import { aWait } from '../../support/a-wait.ts';
import { serveKms } from '../../support/answering-aws.ts';
import { patientDeadline } from '../../support/embedded-table.ts';

/** Makes a clock whose wall time jumps while `steady` goes on. */
function clockThatIsSet() {
  const time = { wall: 1_800_000_000_000, steady: 0 };
  const clock = { now: () => time.wall, steady: () => time.steady, wait: () => Promise.resolve() };
  const set = (hours: number) => (time.wall += hours * 3_600_000);
  return { clock, time, set };
}

describe('a deadline', () => {
  it('neither ends sooner nor later when the wall clock is set', () => {
    const { clock, time, set } = clockThatIsSet();
    const deadline = new Deadline(5_000, clock);
    set(1);
    expect(deadline.remaining).toBe(5_000);
    time.steady += 5_000;
    set(-2);
    expect([deadline.remaining, deadline.elapsed]).toEqual([0, 5_000]);
  });
});

describe('a wait', () => {
  it('neither ends sooner nor later when the wall clock is set', () => {
    const { clock, time, set } = clockThatIsSet();
    const wait = aWait({ clock, endsAt: 20_000 });
    set(1);
    expect(isOver(wait)).toBe(false);
    time.steady += 20_000;
    set(-2);
    expect(isOver(wait)).toBe(true);
  });
});

const { kms: keys, signingKeyArn, sealingKeyArn } = localKms(undefined);
let served: Listening;

beforeAll(async () => {
  replaceClient(keysInKms, () => keys);
  served = await serveKms();
});
afterAll(async () => {
  forgetClients();
  await served.stop();
});
beforeEach(() => {
  vi.stubEnv('AWS_REGION', 'local');
  vi.stubEnv('AWS_ENDPOINT_URL_KMS', served.endpoint);
  vi.stubEnv('AWS_ACCESS_KEY_ID', localCredentials.accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', localCredentials.secretAccessKey);
});
afterEach(() => vi.unstubAllEnvs());

const open = () => keysInKms()(patientDeadline);

describe('keysInKms', () => {
  it('gives public keys and signatures of KMS', async () => {
    expect(await open().publicKey(signingKeyArn)).toEqual(new Uint8Array(await keys.publicKey(signingKeyArn)));
    const digest = createHash('sha256').update('statement').digest();
    expect((await open().sign(signingKeyArn, digest))[0]).toBe(0x30); // a sequence in DER
    await expect(open().sign('none', digest)).rejects.toMatchObject({ name: 'NotFoundException' });
  });

  it('makes data keys that open in the same context only', async () => {
    const { plain, encrypted } = await open().newDataKey(sealingKeyArn, { computation: 'c1' });
    expect(plain).toHaveLength(32);
    expect(await open().openDataKey(sealingKeyArn, encrypted, { computation: 'c1' })).toEqual(plain);
    const elsewhere = open().openDataKey(sealingKeyArn, encrypted, { computation: 'c2' });
    await expect(elsewhere).rejects.toMatchObject({ name: 'InvalidCiphertextException' });
  });

  it('ends a call at its deadline', async () => {
    const late = keysInKms()(() => new Deadline(0));
    await expect(late.publicKey(signingKeyArn)).rejects.toMatchObject({ name: 'AbortError' });
  });
});

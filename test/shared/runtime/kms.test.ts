import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { localKms } from '../../../local/machine/kms.ts';
import { localCredentials } from '../../../local/machine/environment.ts';
import type { Listening } from '../../../local/machine/listen.ts';
import { forgetClients, replaceClient } from '../../../shared/runtime/clients.ts';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import { keysInKms } from '../../../shared/runtime/kms.ts';
import { patientDeadline } from '../../support/embedded-table.ts';
import { serveKms } from '../../support/answering-aws.ts';

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

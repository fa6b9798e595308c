import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileCache } from '../../support/compile-cache.ts';
import { localCredentials } from '../../../local/machine/environment.ts';
import { startStack, type Stack } from '../../../local/stack.ts';
import { serveKms, startAnsweringStacks } from '../../support/answering-aws.ts';
import { startAnswering, type LocalRequest } from '../../support/answering-server.ts';
import { callAs } from '../../support/ready-computation.ts';

const directory = mkdtempSync(join(tmpdir(), 'cvms-of-stage-'));
const stops: (() => Promise<unknown>)[] = [];
let stack: Stack;
let variables: NodeJS.ProcessEnv;
let signed: LocalRequest[];

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: false });
  const kms = await serveKms();
  // The keys of this machine have no aliases.
  const aliases = await startAnswering(async ({ headers, body }) => {
    const target = String(headers['x-amz-target']);
    const known = { ...(JSON.parse(body) as object), KeyId: process.env['SIGNING_KEY_ARN'] };
    const answer = await fetch(kms.endpoint, {
      method: 'POST',
      headers: { 'x-amz-target': target },
      body: JSON.stringify(known),
    });
    return (await answer.json()) as object;
  });
  signed = aliases.requests;
  const cloudFormation = await startAnsweringStacks(() => ({
    ApiUrl: stack.baseUrl,
    GatewayAddress: 'gateway.example.com:7001',
  }));
  stops.push(() => stack.stop(), kms.stop, aliases.stop, cloudFormation.stop);
  variables = {
    PATH: String(process.env['PATH']),
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
    AWS_ENDPOINT_URL_KMS: aliases.endpoint,
    AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.endpoint,
    TOKEN: await stack.token('alice', ['d1:administrator']),
  };
});
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
  rmSync(directory, { recursive: true });
});

async function cvm(more: Record<string, string>, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const command = join(import.meta.dirname, '../../../tools/commands/cvm.ts');
  return await new Promise((resolve) => {
    execFile(
      process.execPath,
      [command, ...args],
      { env: { ...compileCache, ...variables, ...more } },
      (error, stdout, stderr) => {
        resolve({ code: Number(error?.code ?? 0), stdout, stderr });
      },
    );
  });
}

const read = (name: string) => readFileSync(join(directory, name), 'utf8');
const place = ['--domain', 'd1', '--cvm', 'vm-1', '--stage', 'dev'];

describe('npm run cvm with a stage', () => {
  it('enrols a CVM with a certificate that the key of the stage signs, and registers it at the stage', async () => {
    const { stdout, stderr } = await cvm({}, 'enrol', ...place, '--out', directory);
    expect(stderr).toBe('');
    expect(stdout).toContain('AGENT_CVM_GRPC_URL=gateway.example.com:7001\nAGENT_CVM_ID=vm-1\n');
    const [certificate, authority] = [new X509Certificate(read('cert.pem')), new X509Certificate(read('ca.pem'))];
    expect(certificate.verify(authority.publicKey)).toBe(true);
    expect(certificate.subjectAltName).toBe('URI:urn:cvm:d1:vm-1');
    expect(authority.subject).toBe('CN=CVMs of dev');
    expect(authority.verify(authority.publicKey)).toBe(true);
    const keys = signed.map(({ body }) => (JSON.parse(body) as { KeyId: string }).KeyId);
    expect(new Set(keys)).toEqual(new Set(['alias/computations-dev-cvm-authority']));

    const call = callAs(stack.baseUrl, String(variables['TOKEN']));
    const fingerprint = certificate.fingerprint256.replaceAll(':', '').toLowerCase();
    expect((await call('GET', '/d1/cvms/vm-1')).body).toMatchObject({ certificate_fingerprint: fingerprint });
    expect(await cvm({}, 'revoke', ...place)).toMatchObject({ code: 0, stdout: 'The certificate of vm-1 is revoked.\n' });
    expect((await call('GET', '/d1/cvms/vm-1')).body).toMatchObject({ certificate_fingerprint: null });
  });

  it('refuses an unknown stage, and a stage without a token', async () => {
    const unknown = await cvm({}, 'enrol', '--domain', 'd1', '--cvm', 'vm-1', '--stage', 'nowhere');
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('expected one of dev staging prod') });
    const withoutToken = await cvm({ TOKEN: '' }, 'enrol', ...place);
    expect(withoutToken).toMatchObject({ code: 2, stderr: expect.stringContaining('Set TOKEN') });
  });
});

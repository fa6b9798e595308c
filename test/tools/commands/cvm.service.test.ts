import { spawn } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { cvmCommand } from '../../../tools/commands/cvm.ts';
import { SimulatedAgent } from '../../support/simulated-agent.ts';
import { readyComputation } from '../../support/ready-computation.ts';
import { killServices, startService } from '../../support/service-process.ts';

const directory = mkdtempSync(join(tmpdir(), 'cvm-'));
afterEach(() => killServices());
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Runs the command in a process of its own, while the agents of the tests go on in this one. */
async function cvm(port: string, ...args: string[]) {
  const command = join(import.meta.dirname, '../../../tools/commands/cvm.ts');
  const child = spawn(process.execPath, [command, ...args], { env: { ...process.env, PORT: port } });
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { status, stdout, stderr };
}

const read = (name: string) => readFileSync(join(directory, name), 'utf8');

/** The variables that the command prints for /etc/cocos/environment. */
function variablesIn(output: string): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [, name = '', value = ''] of output.matchAll(/^([A-Z_]+)=(.*)$/gm)) variables[name] = value;
  return variables;
}

describe('npm run cvm', () => {
  it('enrols a CVM whose agent then takes a run, until it is revoked, and no simulated CVM ends that run', async () => {
    const service = await startService([], ':', { simulator: true });
    const { port } = new URL(service.baseUrl);
    const place = ['--domain', 'd1', '--cvm', 'vm-1'];
    const enrolled = await cvm(port, 'enrol', ...place, '--out', directory);
    expect(enrolled.stderr).toBe('');
    const variables = variablesIn(enrolled.stdout);
    expect(enrolled.stdout).toContain('GATEWAY_HOST=0.0.0.0'); // without it, no CVM of another machine reaches this address
    expect(variables).toMatchObject({ AGENT_CVM_ID: 'vm-1', AGENT_CVM_GRPC_CLIENT_KEY: '/etc/cocos/certs/key.pem' });

    const agent = new SimulatedAgent({
      address: variables['AGENT_CVM_GRPC_URL'] ?? '',
      cvmId: 'vm-1',
      ca: read('ca.pem'),
      certificate: read('cert.pem'),
      key: read('key.pem'),
      reconnectInMilliseconds: 100,
    });
    const presence = async () => (await service.call('GET', '/d1/cvms/vm-1')).body['presence'];
    await expect.poll(presence).toMatchObject({ state: 'connected', fit: 'ready' });
    const statusOf = async (id: string) => (await service.call('GET', `/d1/computations/${id}/run`)).body['status'];
    const computation = await readyComputation(service.call);
    expect((await service.call('POST', `/d1/computations/${computation}/run?cvm=vm-1`)).status).toBe(200);
    await expect.poll(() => agent.state).toBe('ReceivingAlgorithm');

    const fingerprint = async () => (await service.call('GET', '/d1/cvms/vm-1')).body['certificate_fingerprint'];
    const [before, key] = [await fingerprint(), read('key.pem')];
    const refused = {
      status: 2,
      stderr: expect.stringMatching(/^vm-1 has a run\. Wait for its end, or stop it\.\n\nUsage: npm run cvm/),
    };
    expect(await cvm(port, 'enrol', ...place, '--out', directory)).toMatchObject(refused);
    expect(await cvm(port, 'revoke', ...place)).toMatchObject(refused);
    expect([await fingerprint(), read('key.pem')]).toEqual([before, key]);
    expect(await cvm(port, 'revoke', '--domain', 'd1', '--cvm', 'vm-2')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('vm-2 is not registered in the domain d1.'),
    });
    expect((await service.call('GET', '/d1/cvms/vm-2')).status).toBe(404);
    const other = await readyComputation(service.call);
    await service.call('POST', `/d1/computations/${other}/run?cvm=sim-1`);
    await expect.poll(() => statusOf(other)).toBe('completed'); // by then a simulated vm-1 would have said something as well

    const { body: journal } = await service.call('GET', `/d1/computations/${computation}/events?event_type=Running`);
    expect(journal).toMatchObject({ events: [] });
    expect((await service.call('POST', `/d1/computations/${computation}/stop`)).status).toBe(200);
    await expect.poll(() => statusOf(computation)).toBe('cancelled');
    await expect.poll(presence).toMatchObject({ fit: 'spent' });
    expect(await cvm(port, 'revoke', ...place)).toMatchObject({ status: 0, stdout: expect.stringContaining('revoked') });
    expect(await fingerprint()).toBeNull();
    agent.end();
    await service.end('SIGTERM');
  });

  it('leaves the CVM its certificate when the new files cannot be written', async () => {
    const service = await startService([]);
    const { port } = new URL(service.baseUrl);
    const place = ['--domain', 'd1', '--cvm', 'vm-2'];
    const fingerprint = async () => (await service.call('GET', '/d1/cvms/vm-2')).body['certificate_fingerprint'];
    const out = join(directory, 'vm-2');
    expect(await cvm(port, 'enrol', ...place, '--out', out)).toMatchObject({ status: 0 });
    const before = await fingerprint();
    const failed = await cvm(port, 'enrol', ...place, '--out', join(out, 'cert.pem'));
    expect(failed).toMatchObject({ status: 1, stderr: expect.stringContaining('Cannot write into') });
    mkdirSync(join(out, 'ca.pem.new'));
    expect((await cvm(port, 'enrol', ...place, '--out', out)).status).toBe(1);
    expect(await fingerprint()).toBe(before);
    expect(new X509Certificate(read('vm-2/cert.pem')).fingerprint256.replaceAll(':', '').toLowerCase()).toBe(before);
    expect(new X509Certificate(read('vm-2/cert.pem')).checkPrivateKey(createPrivateKey(read('vm-2/key.pem')))).toBe(true);

    rmSync(join(out, 'ca.pem.new'), { recursive: true });
    expect(await cvm(port, 'enrol', ...place, '--out', out)).toMatchObject({ status: 0 });
    expect(await fingerprint()).not.toBe(before);
    expect(readdirSync(out).sort()).toEqual(['ca.pem', 'cert.pem', 'key.pem']);
    await service.end('SIGTERM');
  });

  it.each([
    [['enrol', '--cvm', 'vm-1'], '--domain and --cvm are required.'],
    [['dismiss'], 'Expected enrol or revoke.'],
    [['enrol', '--domain', 'd1', '--cvm', 'vm-1', '--key', 'dsa'], '--key is "dsa"; expected ec or rsa.'],
    [['revoke', '--domain', 'd1', '--cvm', 'vm-1', '--key', 'ec'], '`revoke` takes no --key.'],
  ])('refuses the arguments %j', async (args, message) => {
    await expect(cvmCommand(args)).rejects.toMatchObject({ name: 'UsageError', message });
  });
});

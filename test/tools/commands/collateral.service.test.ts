import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { addCollateral, emitCollateralDays, readCollateral, readOneCollateral } from '../../../shared/attestation/collateral.ts';
import { collateralCommand } from '../../../tools/commands/collateral.ts';
import { forgeCertificate, number, spec } from '../../packages/attestation/forge-certificates.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(() => startEmbeddedTable({ bySdk: true }));
const vector = (name: string) => join(import.meta.dirname, '../../packages/attestation/vectors', name);
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const now = new Date('2025-07-01');
const run = (...args: string[]) => collateralCommand(args, now);

it('adds certificates and collateral that hold, which the service then reads, and nothing of another kind', async () => {
  vi.stubEnv('DYNAMODB_ENDPOINT', embedded.endpoint);
  const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  await run('list');
  expect(said).toHaveBeenLastCalledWith(expect.stringContaining('There is none.'));
  const files = [vector('snp-milan.vcek.der'), vector('snp-genoa.vcek.pem'), vector('tdx.collateral.json')];
  for (const _twice of [1, 2]) await run('add', ...files);
  const { certificates, collateral } = await readCollateral(embedded.table);
  expect([certificates?.length, collateral?.length]).toEqual([2, 1]);
  const folder = mkdtempSync(join(tmpdir(), 'collateral-'));
  const write = (content: string | Buffer) => {
    writeFileSync(join(folder, 'file'), content);
    return join(folder, 'file');
  };
  await run('add', write([files[0], files[1]].map((file) => pemOf(readFileSync(file ?? ''))).join('\n')));
  expect((await readCollateral(embedded.table)).certificates).toHaveLength(3);

  const text = readFileSync(vector('tdx.collateral.json'), 'utf8');
  const members = JSON.parse(text) as Record<string, string>;
  const having = (change: Record<string, string | undefined>) => JSON.stringify({ ...members, ...change });
  const flipped = (hex = '', at = 0) => {
    const bytes = Buffer.from(hex, 'hex');
    const place = at < 0 ? bytes.length + at : at;
    bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place);
    return bytes.toString('hex');
  };
  const altered = Buffer.from(flipped(new X509Certificate(members['pck_crl_issuer_chain'] ?? '').raw.toString('hex'), -1), 'hex');
  const key = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const wrong: [content: string | Buffer, why: string | RegExp][] = [
    [readFileSync('packages/simulated-cvm/test-root.pem'), 'no trusted root issued the certificate'],
    [
      forgeCertificate({
        ...spec,
        key,
        signer: key,
        subject: 'a',
        issuer: 'a',
        extensions: [{ name: '1.2.3', value: number(1), critical: true }],
      }),
      'the unknown critical extension 1.2.3',
    ],
    [readFileSync(vector('snp-milan.altered-vcek.der')), 'is not signed by'],
    [text.replace('"tcb_info": "{', '"tcb_info": "'), 'is not signed by Intel'],
    [text.replace('issueDate', 'issueDat_'), 'is not signed by Intel'],
    [having({ pck_crl: members['root_ca_crl'] }), 'the revocation list of "Intel SGX PCK P'],
    [having({ pck_crl: flipped(members['pck_crl'], -1) }), 'the revocation list of "Intel SGX PCK P'],
    [having({ pck_crl: flipped(members['pck_crl'], 100) }), 'the revocation list of "Intel SGX PCK P'],
    [having({ root_ca_crl: flipped(members['root_ca_crl'], -1) }), 'the revocation list of "Intel SGX Root CA" is not signed by'],
    [having({ pck_crl_issuer_chain: members['tcb_info_issuer_chain'] }), 'not of an authority for platforms'],
    [having({ pck_crl_issuer_chain: pemOf(altered) }), 'is not signed by "Intel SGX Root CA"'],
    [having({ pck_crl_issuer_chain: undefined }), 'pck_crl_issuer_chain'],
    ['{', 'nor collateral of Intel that holds: Invalid JSON'],
    [readFileSync(vector('README.md')), 'neither a certificate of AMD nor collateral of Intel'],
    [readFileSync(vector('tdx-outdated.collateral.json')), /not up to date: .* Next: npm run collateral -- add FILE, /],
  ];
  for (const [content, why] of wrong) await expect(run('add', write(content))).rejects.toThrow(why);
  await expect(run('add')).rejects.toThrow('Expected a file.');
  await expect(run('remove', 'abc')).rejects.toThrow('Expected 8 to 64 digits');
  await expect(run('drop')).rejects.toThrow('must be add, list or remove');
  expect((await readCollateral(embedded.table)).certificates).toHaveLength(3);
});

it('lists what is there until when, and removes it without taking it from evidence', async () => {
  vi.stubEnv('DYNAMODB_ENDPOINT', embedded.endpoint);
  const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const lines = () => said.mock.calls.map(([line]) => String(line));
  await run('add', vector('tdx.collateral.json'));
  await run('list');
  const listed = lines().find((line) => line.includes('the collateral of the platform family')) ?? '';
  expect(listed).toMatch(/with the list of Intel SGX PCK P\w+ CA, valid until 2025-07-\d\dT/);
  const hash = /^[0-9a-f]{16}/m.exec(lines().find((line) => /^[0-9a-f]{16} {2}the collateral/.test(line)) ?? '')?.[0] ?? '';
  await collateralCommand(['list'], new Date('2026-07-01'));
  expect(lines()).toContainEqual(
    expect.stringMatching(new RegExp(`^${hash}  NOT VALID: .* Next: npm run collateral -- add FILE, with the newest`)),
  );
  await run('remove', hash);
  const whole = /[0-9a-f]{64}/.exec(lines().at(-1) ?? '')?.[0] ?? '';
  expect((await readCollateral(embedded.table)).collateral).toHaveLength(0);
  expect(await readOneCollateral(embedded.table, whole)).toHaveProperty('tcb_info');
  vi.stubEnv('DYNAMODB_ENDPOINT', '');
  const folder = mkdtempSync(join(tmpdir(), 'collateral-'));
  await expect(run('list', '--data', folder)).rejects.toMatchObject({
    name: 'UsageError',
    message: expect.stringContaining(folder),
  });
  expect(readdirSync(folder)).toEqual([]);
  vi.stubEnv('DYNAMODB_ENDPOINT', embedded.endpoint);
  await expect(run('remove', hash)).rejects.toThrow(`There is no document ${hash}. Next: npm run collateral -- list`);
});

it('has a metric of the days until the first document runs out that is the last one of its kind, whatever cannot be read', async () => {
  vi.stubEnv('METRICS_NAMESPACE', 'Test');
  vi.stubEnv('DYNAMODB_ENDPOINT', embedded.endpoint);
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  await run('add', vector('tdx.collateral.json'), vector('snp-milan.vcek.der'));
  const content = Buffer.from(readFileSync(vector('tdx-outdated.collateral.json')));
  await addCollateral(embedded.table, { kind: 'collateral', content });
  await addCollateral(embedded.table, { kind: 'certificate', content: Buffer.from('stored before it was verified') });
  const unreadable = {
    tcb_info: '{"fmspc":"00806F050000","nextUpdate":"soon"}',
    qe_identity: '{}',
    pck_crl: '',
    root_ca_crl: '',
  };
  await addCollateral(embedded.table, { kind: 'collateral', content: Buffer.from(JSON.stringify(unreadable)) });
  written.mockClear();
  await emitCollateralDays(embedded.table, Number(now));
  const days = written.mock.calls.map(([line]) => (JSON.parse(String(line)) as { CollateralDays: number }).CollateralDays);
  expect(days).toEqual([expect.any(Number)]);
  expect(days[0]).toBeGreaterThan(10);
  expect(days[0]).toBeLessThan(30);
});

const pemOf = (bytes: Buffer) => (bytes[0] === 0x30 ? new X509Certificate(bytes).toString() : bytes.toString());

import { randomBytes } from 'node:crypto';
import { checkPolicy, nothingToCompare } from 'computation-management-attestation';
import { describe, expect, it } from 'vitest';
import { strictPolicy } from '../../support/strict-policy.ts';
import { byTestRoots, type OptionsOfTest } from './by-test-roots.ts';
import { failingChecks as failing } from './failing-checks.ts';
import { amd, coseOf, field, otherKeys, type SnpChange, snpProducts } from './forge-snp.ts';
import { bodyOf, forgeTdx, otherKey, type TdxChange } from './forge-tdx.ts';
import { anotherKey, areaOf, type AzureChange, forgeAzure, forgeSnpVtpm, type VtpmChange } from './forge-vtpm.ts';

const { verifyTdxQuote, verifyToken } = byTestRoots;

async function verdictOf(platform: 'SNP-vTPM' | 'Azure', { evidence, options }: ReturnType<typeof forgeAzure>) {
  return await verifyToken(coseOf({ platform_type: platform, raw_report: evidence }), options);
}

const flip = (at: number) => (bytes: Buffer) => void (bytes[at] = (bytes[at] ?? 0) ^ 1);
/** The place of the attributes in the public area of a key. */
const attributesAt = 4;
const without = (bit: number) => (area: Buffer) =>
  void area.writeUInt32BE((area.readUInt32BE(attributesAt) & ~bit) >>> 0, attributesAt);

/** Changes a byte of the selection of PCRs in a quote: the number of banks, four bytes, then the bank, two bytes. */
const inSelection = (at: number, byte: number): VtpmChange => ({
  quote: (quote) => void quote.writeUInt8(byte, quote.lastIndexOf(Buffer.from('00000001000b03', 'hex')) + at),
});

/** Changes that make evidence of both kinds wrong, with the checks that fail. */
const wrong: [title: string, change: VtpmChange, failing: string[]][] = [
  ['has an altered report', { snp: { signed: flip(0x90) } }, ['signature']],
  ['has a report that lets the host debug', { snp: { report: (bytes) => bytes.writeUInt8(0b1010, 0x0a) } }, ['debug']],
  ['has a report with other report data', { snp: { report: flip(0x50) } }, ['report_data']],
  ['has a quote that another key signed', { signer: anotherKey }, ['quote']],
  ['has a quote with another signature', { signature: flip(9) }, ['quote']],
  ['has a quote that was altered in its firmware version', { signed: flip(95) }, ['quote']],
  ['has a quote with another nonce', { nonce: randomBytes(32) }, ['quote_nonce']],
  ['has a quote with a nonce that is too short', { nonce: Buffer.alloc(31, 1) }, ['quote_nonce']],
  ['has a quote that no TPM made', { quote: flip(0) }, ['quote_nonce', 'pcrs']],
  ['has something that is no quote', { quote: flip(5) }, ['quote_nonce', 'pcrs']],
  ['has a quote of other PCRs', { toldPcrs: (pcrs) => pcrs.set(4, Buffer.alloc(32, 9)) }, ['pcrs']],
  ['has a quote of fewer PCRs', { selected: 0xff }, ['pcrs']],
  ['has a quote of another bank', inSelection(5, 0x04), ['quote_nonce', 'pcrs']],
  ['has a quote of two banks', inSelection(3, 2), ['quote_nonce', 'pcrs']],
  [
    'has PCRs that are not of 32 bytes, with the same bytes in all',
    {
      toldPcrs: (pcrs) => {
        const [fourth, fifth] = [pcrs.get(4) ?? Buffer.of(), pcrs.get(5) ?? Buffer.of()];
        pcrs.set(4, fourth.subarray(0, 31)).set(5, Buffer.concat([fourth.subarray(31), fifth]));
      },
    },
    ['pcrs'],
  ],
  ['lacks a PCR', { toldPcrs: (pcrs) => pcrs.delete(23) }, ['pcrs']],
  ...Array.from({ length: 24 }, (_, number): (typeof wrong)[number] => [
    `has another PCR ${number} than its quote is of`,
    { toldPcrs: (pcrs) => pcrs.set(number, Buffer.alloc(32, 0xee)) },
    ['pcrs'],
  ]),
];

const early = new Date('2020-01-01');
/** Changes of the report of SNP in evidence with a vTPM, at least one for each check of it, with the checks that fail. */
const wrongHardware = (vlek: boolean): [SnpChange, string[]][] => [
  [{ report: (report) => report.writeUInt8(6, 0) }, ['report_format']],
  [{ root: { subject: 'ARK-Rome' }, intermediate: { issuer: 'ARK-Rome' } }, ['product']],
  [{ leaf: { signer: otherKeys.rsa } }, ['certificate_chain']],
  [{ intermediate: { signer: otherKeys.rsa } }, ['certificate_chain']],
  [{ root: { key: otherKeys.rsa } }, ['certificate_chain']],
  [{ leaf: { to: early } }, ['certificate_validity']],
  [{ intermediate: { to: early } }, ['certificate_validity']],
  [{ root: { to: early } }, ['certificate_validity']],
  vlek
    ? [{ extensions: (all) => all.filter(({ name }) => name !== `${amd}.5`) }, ['certificate_chip']]
    : [{ report: flip(0x1a0) }, ['certificate_chip']],
  ...[0, 7].map((at): [SnpChange, string[]] => [
    { report: (report) => [0x180, 0x1e0, 0x38].forEach((from) => (report[from + at] = 201)) },
    ['certificate_tcb'],
  ]),
  [{ signed: flip(0x90) }, ['signature']],
  [{ signer: otherKeys.ec }, ['signature']],
  [{ report: (report) => report.writeUInt8(200, 0x1e0) }, ['firmware_tcb']],
  [{ report: (report) => report.writeUInt32LE(4, 0x30) }, ['vmpl']],
  [{ report: (report) => report.writeUInt8(0b1010, 0x0a) }, ['debug']],
  [{ report: (report) => report.writeUInt8(0b0110, 0x0a) }, ['migration']],
  [{ report: flip(0x50) }, ['report_data']],
];
/** The checks without which nothing of a report is proven. */
const genuine = ['report_format', 'product', 'certificate_chain', 'certificate_tcb', 'signature', 'report_data'];

const ofSnpVtpm: typeof wrong = [
  ['has another key than the report', { otherArea: areaOf(anotherKey) }, ['report_data', 'quote']],
  ['has another key than the report, with its quote', { otherArea: areaOf(anotherKey), signer: anotherKey }, ['report_data']],
  ['has a key that is not restricted to what its TPM made', { area: without(1 << 16) }, ['attestation_key']],
  ['has a key that can leave its TPM', { area: without(1 << 1) }, ['attestation_key']],
  ['has a key that can move within its TPM', { area: without(1 << 4) }, ['attestation_key']],
  ['has a key that was made outside of its TPM', { area: without(1 << 5) }, ['attestation_key']],
  ['has a key that does not sign', { area: without(1 << 18) }, ['attestation_key']],
  ['has a key that also encrypts', { area: (area) => area.writeUInt16BE(0x06, 10) }, ['attestation_key']],
  ['has a key for SHA-1', { area: (area) => area.writeUInt16BE(0x04, 14) }, ['attestation_key']],
  ['has a key with another exponent', { area: (area) => area.writeUInt32BE(3, 18) }, ['attestation_key']],
  ['has a key of another kind', { area: (area) => area.writeUInt16BE(0x23, 0) }, ['attestation_key']],
  ['has a key for RSAPSS', { area: (area) => area.writeUInt16BE(0x16, 12) }, ['attestation_key']],
  ['has a key of another size', { area: (area) => area.writeUInt16BE(1024, 16) }, ['attestation_key']],
  ['has a quote twice', { extra: [field(2, field(3, field(1, 0x0b)))] }, ['evidence_format']],
  ['has two reports', { extra: [field(8, Buffer.alloc(4))] }, ['evidence_format']],
];

describe('evidence of an SNP guest with a vTPM', () => {
  it('is verified if every link of the chain holds, and has its PCRs', async () => {
    const verdict = await verdictOf('SNP-vTPM', forgeSnpVtpm());
    expect([verdict.verdict, verdict.platform, failing(verdict)]).toEqual(['verified', 'snp-vtpm', []]);
    expect(verdict).toMatchObject({
      measurement: 'ab'.repeat(48),
      vmpl: 0,
      tcb: { snp: 8 },
      pcrs: { 0: '00'.repeat(32), 23: '17'.repeat(32) },
    });
  });

  it.each(snpProducts.flatMap((product) => [false, true].map((vlek) => [product, vlek] as const)))(
    'is verified on %s if every link of the chain holds, and refused if its hardware does not (VLEK: %s)',
    async (product, vlek) => {
      const verdict = await verdictOf('SNP-vTPM', forgeSnpVtpm({ snp: { product, vlek } }));
      expect([verdict.verdict, failing(verdict), verdict.pcrs?.['4']]).toEqual(['verified', [], '04'.repeat(32)]);
      for (const [snp, names] of wrongHardware(vlek)) {
        const refused = await verdictOf('SNP-vTPM', forgeSnpVtpm({ snp: { product, vlek, ...snp } }));
        expect([refused.verdict, failing(refused)]).toEqual(['refused', names]);
        if (names.some((name) => genuine.includes(name))) expect(refused.pcrs).toBe(null);
      }
    },
  );

  it.each([...wrong, ...ofSnpVtpm])('is refused, with the failing check named, if it %s', async (_, change, names) => {
    const verdict = await verdictOf('SNP-vTPM', forgeSnpVtpm(change));
    expect([verdict.verdict, failing(verdict)]).toEqual(['refused', names]);
    if (names.some((name) => name !== 'quote_nonce' && name !== 'debug')) expect(verdict.pcrs).toBe(null);
  });

  it('is bound to a nonce whose beginning the quote has', async () => {
    const { evidence, options } = forgeSnpVtpm();
    const failingWith = async (boundTo: OptionsOfTest['boundTo']) =>
      failing(await verdictOf('SNP-vTPM', { evidence, options: { ...options, boundTo } }));
    for (const boundTo of [{ certificate: 'another' }, { nonce: randomBytes(64) }]) {
      expect(await failingWith(boundTo)).toEqual(['report_data', 'quote_nonce']);
    }
    expect(await failingWith(null)).toEqual(['report_data', 'attestation_key', 'quote_nonce']); // anyone can attach a key to a report
  });

  it('without a nonce lacks nothing but a nonce if its quote holds, and is refused for its quote if not', async () => {
    const failed = async (change?: VtpmChange) => {
      const { evidence, options } = forgeSnpVtpm(change);
      const verdict = await verdictOf('SNP-vTPM', { evidence, options: { ...options, boundTo: null } });
      expect([verdict.verdict, verdict.measurement, verdict.pcrs]).toEqual(['refused', 'ab'.repeat(48), null]);
      return verdict.checks.filter(({ passed, detail }) => !passed && detail !== nothingToCompare).map(({ name }) => name);
    };
    expect(await failed()).toEqual([]);
    expect(await failed({ signature: flip(9) })).toEqual(['quote']);
    expect(await failed({ otherArea: areaOf(anotherKey) })).toEqual(['quote']);
    expect(await failed({ toldPcrs: (pcrs) => pcrs.set(4, Buffer.alloc(32, 9)) })).toEqual(['pcrs']);
    expect(await failed({ area: without(1 << 16) })).toEqual(['attestation_key', 'quote', 'quote_nonce', 'pcrs']);
  });

  it('is unsupported on a product that nobody knows, by name', async () => {
    const snp: VtpmChange['snp'] = { report: (report) => report.set([0x1a, 0x50], 0x188) };
    for (const verdict of [await verdictOf('SNP-vTPM', forgeSnpVtpm({ snp })), await verdictOf('Azure', forgeAzure({ snp }))])
      expect(verdict).toMatchObject({
        verdict: 'unsupported',
        platform: 'snp-family-26-model-80',
        measurement: null,
        pcrs: null,
      });
  });

  it('is judged by the PCRs of a policy', async () => {
    const verdict = await verdictOf('SNP-vTPM', forgeSnpVtpm());
    const policy = { ...strictPolicy, platforms: ['snp-vtpm'], measurements: ['ab'.repeat(48)] };
    const failingWith = (pcrs: { sha256: Record<string, string> } | null, of = verdict) =>
      failing({ checks: checkPolicy(of, { ...policy, pcrs }) });
    expect(failingWith(null)).toEqual([]);
    expect(failingWith({ sha256: { 4: '04'.repeat(32), 7: '07'.repeat(32) } })).toEqual([]);
    expect(failingWith({ sha256: { 4: '04'.repeat(32), 7: '08'.repeat(32) } })).toEqual(['pcrs']);
    expect(failingWith({ sha256: { 4: '04'.repeat(32) } }, { ...verdict, pcrs: null })).toEqual(['pcrs']);
    expect(failingWith(null, { ...verdict, platform: 'snp' })).toEqual(['platform']);
  });
});

describe('a policy that lets something pass', () => {
  const lenient = { ...strictPolicy, allow_debug: true, accepted_tcb_statuses: ['OutOfDate', 'UpToDate'] };
  const unsatisfied = async (platform: 'SNP-vTPM' | 'Azure', given: ReturnType<typeof forgeAzure>) => {
    const verdict = await verdictOf(platform, given);
    const policy = { ...lenient, platforms: [verdict.platform], measurements: [verdict.measurement ?? ''] };
    return failing({ checks: checkPolicy(verdict, policy) });
  };
  const debugging: SnpChange = { report: (bytes) => bytes.writeUInt8(0b1010, 0x0a) };
  const late: AzureChange['tdx'] = {
    tcbInfo: ({ tcbLevels: [level] }) => Object.assign(level ?? {}, { tcbStatus: 'OutOfDate' }),
    quote: (quote) => void (quote[bodyOf(quote) + 120] = 1),
  };

  it('lets nothing else of the chain pass with it', async () => {
    expect(await unsatisfied('SNP-vTPM', forgeSnpVtpm({ snp: debugging }))).toEqual([]);
    expect(await unsatisfied('Azure', forgeAzure({ tdx: late }))).toEqual([]);
    const others: VtpmChange[] = [
      { nonce: randomBytes(32) },
      { signer: anotherKey },
      { toldPcrs: (pcrs) => pcrs.set(4, Buffer.alloc(32, 9)) },
    ];
    for (const other of others) {
      expect(await unsatisfied('SNP-vTPM', forgeSnpVtpm({ ...other, snp: debugging }))).toEqual(['evidence']);
      if (!other.nonce) expect(await unsatisfied('Azure', forgeAzure({ ...other, tdx: late }))).toEqual(['evidence']);
    }
    const revoked = { ...late, pckCrl: { serials: [3] } };
    expect(await unsatisfied('Azure', forgeAzure({ tdx: revoked }))).toEqual(['evidence']);
  });
});

const ofAzure: [title: string, change: AzureChange, failing: string[]][] = [
  ['has runtime data that were altered', { paravisor: (report) => flip(report.indexOf('HCLEk'))(report) }, ['report_data']],
  [
    'has runtime data with another key',
    { runtime: ({ keys }) => Object.assign(keys[0] ?? {}, anotherKey.publicKey.export({ format: 'jwk' })) },
    ['quote'],
  ],
  ['has user data that is not the nonce', { runtime: (data) => (data['user-data'] = '00'.repeat(64)) }, ['report_data']],
  ['has runtime data without the key', { runtime: ({ keys }) => keys.shift() }, ['evidence_format']],
  ['has runtime data with the key twice', { runtime: ({ keys }) => keys.push({ ...keys[0] }) }, ['evidence_format']],
  [
    'has runtime data with a short key',
    { runtime: ({ keys }) => Object.assign(keys[0] ?? {}, { n: 'AAAA' }) },
    ['evidence_format'],
  ],
  [
    'has runtime data with another exponent',
    { runtime: ({ keys }) => Object.assign(keys[0] ?? {}, { e: 'Aw' }) },
    ['evidence_format'],
  ],
  [
    'has runtime data with a key of another kind',
    { runtime: ({ keys }) => Object.assign(keys[0] ?? {}, { kty: 'EC' }) },
    ['evidence_format'],
  ],
  ['has a report of another paravisor', { paravisor: flip(0) }, ['evidence_format']],
  ['has the report of another kind', { paravisor: (report) => report.writeUInt8(4, 32 + 0x4a0 + 8) }, ['evidence_format']],
  ['has runtime data with another hash', { paravisor: (report) => report.writeUInt8(2, 32 + 0x4a0 + 12) }, ['evidence_format']],
  ['has runtime data that are cut off', { paravisor: (report) => report.writeUInt8(0xff, 32 + 0x4a0 + 17) }, ['evidence_format']],
  ['has another version', { json: (json) => (json['version'] = 3) }, ['evidence_format']],
  ['has no quote', { json: (json) => delete json['tpm_quote'] }, ['evidence_format']],
  ['has no certificate', { json: (json) => (json['vcek'] = '') }, ['certificate_chain']],
];

const inBody = (at: number, ...bytes: number[]): TdxChange => ({ quote: (quote) => quote.set(bytes, bodyOf(quote) + at) });
/** Changes that make evidence of TDX on Azure wrong, with the checks that fail. */
const ofAzureTdx: [title: string, change: AzureChange, failing: string[]][] = [
  ['has an altered quote of TDX', { tdx: { signed: (quote) => (flip(bodyOf(quote) + 200)(quote), quote) } }, ['signature']],
  ['has a quote of TDX with other report data', { tdx: { quote: (quote) => flip(bodyOf(quote) + 520)(quote) } }, ['report_data']],
  ['has a quote of TDX with more in its report data', { tdx: inBody(583, 1) }, ['report_data']],
  ['lets the host debug', { tdx: inBody(120, 1) }, ['debug']],
  ['has unknown attributes', { tdx: inBody(124, 1) }, ['attributes']],
  ['has a platform that Intel did not certify', { tdx: { platform: { signer: otherKey } } }, ['certificate_chain']],
  ['has a revoked platform', { tdx: { pckCrl: { serials: [3] } } }, ['revocation']],
  ['has a platform that is out of date', { tdx: { extension: { pceSvn: 12 } } }, ['tcb_status']],
  ['has the report of SNP', { paravisor: (report) => report.writeUInt8(2, 32 + 0x4a0 + 8) }, ['evidence_format']],
  ['has the quote of another machine', { json: (json) => (json['td_quote'] = otherQuote) }, ['report_data']],
  ['has no quote of TDX', { json: (json) => (json['td_quote'] = '') }, ['report_format']],
];
const otherQuote = forgeTdx({ version: 4 }).quote.toString('base64url');

describe('evidence of a confidential VM of TDX on Azure', () => {
  /** Evidence that cannot be read is of SNP, as far as anyone can tell. */
  const platformOf = (names: string[]) => (names.includes('evidence_format') ? 'az-snp-vtpm' : 'az-tdx-vtpm');

  it.each([4, 5] as const)('is verified with a quote of version %i if every link of the chain holds', async (version) => {
    const verdict = await verdictOf('Azure', forgeAzure({ tdx: { version } }));
    expect([verdict.verdict, verdict.platform, failing(verdict)]).toEqual(['verified', 'az-tdx-vtpm', []]);
    expect(verdict).toMatchObject({ tcb: { status: 'UpToDate' }, guest: null, pcrs: { 4: '04'.repeat(32) } });
    expect(verdict.measurement).toMatch(/^[0-9a-f]{96}$/);
  });

  it.each([
    ...wrong.filter(([, { nonce, snp }]) => !nonce && !snp),
    ...ofAzure.filter(([, { json, paravisor }]) => json === undefined && paravisor === undefined),
    ...ofAzureTdx,
  ])('is refused, with the failing check named, if it %s', async (_, change, names) => {
    const verdict = await verdictOf('Azure', forgeAzure({ tdx: {}, ...change }));
    expect([verdict.verdict, verdict.platform, failing(verdict)]).toEqual(['refused', platformOf(names), names]);
  });

  it('is refused with another nonce, and its quote alone for the attribute that other machines of TDX need', async () => {
    const { evidence, options } = forgeAzure({ tdx: {} });
    const verdict = await verdictOf('Azure', { evidence, options: { ...options, boundTo: { nonce: randomBytes(48) } } });
    expect(failing(verdict)).toEqual(['report_data', 'quote_nonce']);
    const { td_quote } = JSON.parse(evidence.toString()) as { td_quote: string };
    expect(failing(await verifyTdxQuote(Buffer.from(td_quote, 'base64url'), options))).toEqual(['attributes', 'report_data']);
  });
});

describe('evidence of a confidential VM on Azure', () => {
  it('is verified if every link of the chain holds, also without user data before version 2', async () => {
    for (const change of [
      {},
      { json: (json) => (json['version'] = 1), runtime: (data) => (data['user-data'] = '00'.repeat(64)) } satisfies AzureChange,
    ]) {
      const verdict = await verdictOf('Azure', forgeAzure(change));
      expect([verdict.verdict, verdict.platform, failing(verdict)]).toEqual(['verified', 'az-snp-vtpm', []]);
      expect(verdict).toMatchObject({ measurement: 'ab'.repeat(48), pcrs: { 4: '04'.repeat(32) } });
    }
  });

  it.each([...wrong.filter(([, { nonce }]) => !nonce), ...ofAzure])(
    'is refused, with the failing check named, if it %s',
    async (_, change, names) => {
      const verdict = await verdictOf('Azure', forgeAzure(change));
      expect([verdict.verdict, failing(verdict)]).toEqual(['refused', names]);
    },
  );

  it.each(snpProducts)(
    'is verified on %s if every link of the chain holds, and refused if its hardware does not',
    async (product) => {
      const verdict = await verdictOf('Azure', forgeAzure({ snp: { product } }));
      expect([verdict.verdict, failing(verdict), verdict.pcrs?.['4']]).toEqual(['verified', [], '04'.repeat(32)]);
      for (const [snp, names] of wrongHardware(false)) {
        const refused = await verdictOf('Azure', forgeAzure({ snp: { product, ...snp } }));
        expect([refused.verdict, failing(refused)]).toEqual(['refused', names]);
        if (names.some((name) => genuine.includes(name))) expect(refused.pcrs).toBe(null);
      }
    },
  );

  it('is refused with another nonce', async () => {
    const { evidence, options } = forgeAzure();
    const verdict = await verdictOf('Azure', { evidence, options: { ...options, boundTo: { nonce: randomBytes(48) } } });
    expect(failing(verdict)).toEqual(['report_data', 'quote_nonce']);
  });

  it.each([
    ['az-snp-vtpm', forgeSnpVtpm().evidence],
    ['az-tdx-vtpm', Buffer.from('0400020081000000', 'hex')],
  ])('of %s is refused as the agent sends it, without runtime data', async (platform, evidence) => {
    const verdict = await verdictOf('Azure', { evidence, options: forgeAzure().options });
    expect(verdict).toMatchObject({ verdict: 'refused', platform, measurement: null });
    expect(verdict.checks.find(({ passed }) => !passed)?.detail).toContain('no runtime data');
  });
});

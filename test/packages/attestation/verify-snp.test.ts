import { lacksCertificate } from 'computation-management-attestation';
import { byTestRoots } from './by-test-roots.ts';
import { describe, expect, it } from 'vitest';
import { failingChecks as failing } from './failing-checks.ts';
import { authority, number, octets, pem } from './forge-certificates.ts';
import { amd, forgeSnp, ia5, otherKeys, type SnpChange, products, snpProducts } from './forge-snp.ts';

const { verifySnpReport } = byTestRoots;

const early = new Date('2020-01-01');
const set = (at: number, ...bytes: number[]): SnpChange => ({ report: (report) => report.set(bytes, at) });
const flip = (at: number): SnpChange => ({ signed: (report) => (report[at] = (report[at] ?? 0) ^ 1) });
const without = (name: string): SnpChange => ({ extensions: (all) => all.filter((each) => each.name !== name) });
const replace = (name: string, value: Uint8Array): SnpChange => ({
  extensions: (all) => all.map((each) => (each.name === name ? { name, value } : each)),
});
const noAuthority = { name: '2.5.29.19', value: Buffer.of(0x30, 0) };

type Wrong = [title: string, change: SnpChange, failing: string[]][];
type Product = (typeof snpProducts)[number];

/** Changes that make a report of a product or its chain wrong, with the checks that fail. */
function wrongOf(product: Product, vlek: boolean): Wrong {
  const { tcb, versions, chip, structVersion } = products[product];
  const isTurin = product === 'Turin';
  const other = product === 'Genoa' ? 'Milan' : 'Genoa';
  const [signer, otherSigner] = vlek ? ['VLEK', 'VCEK'] : ['VCEK', 'VLEK'];
  const [above, otherAbove] = vlek ? [`SEV-VLEK-${product}`, `SEV-${product}`] : [`SEV-${product}`, `SEV-VLEK-${product}`];
  const anotherAbove = above.replace(product, other);
  return [
    ['is of version 1', set(0, 1), ['report_format']],
    ['is of version 6', set(0, 6), ['report_format']],
    ['has another signature algorithm', set(0x34, 2), ['report_format']],
    ['is signed by no key', set(0x48, 7 << 2), ['report_format']],
    ['has a policy without the bit that is always set', set(0x0a, 0), ['report_format']],
    ['has a policy with unknown bits', set(0x0b, 4), ['report_format']],
    ['has reserved bytes', set(0x18b, 1), ['report_format']],
    ['has bytes after its signature', flip(0x49f), ['report_format']],
    ['has bytes between the numbers of its signature', flip(0x2a0 + 50), ['report_format']],
    ['allows debugging', set(0x0a, 0b1010), ['debug']],
    ['allows a migration agent', set(0x0a, 0b0110), ['migration']],
    ['was asked for by the host', set(0x30, 0xff, 0xff, 0xff, 0xff), ['vmpl']],
    ['was asked for at a level that is none', set(0x30, 4), ['vmpl']],
    [
      `is of a ${other}`,
      set(0x188, ...products[other].cpu),
      ['product', ...(isTurin && !vlek ? ['certificate_chip'] : []), ...(isTurin ? ['certificate_tcb'] : [])],
    ],
    ['has another report data', set(0x50, 0), ['report_data']],
    ['reports more than is committed', set(0x1e0, (tcb[0] ?? 0) - 1), ['firmware_tcb']],
    ['reports more microcode than is committed', set(0x1e7, (tcb[7] ?? 0) - 1), ['firmware_tcb']],
    ...tcb.map((version, at): Wrong[number] => [
      `has committed more of part ${at} than runs`,
      set(0x1e0 + at, version + 1),
      ['firmware_tcb'],
    ]),
    ...tcb.map((version, at): Wrong[number] => [
      `is of another version ${at}`,
      { report: (report) => [0x180, 0x1e0, 0x38].forEach((from) => (report[from + at] = version + 1)) },
      ['certificate_tcb'],
    ]),
    ['is altered', flip(0x90), ['signature']],
    ['has another signature', flip(0x2a0), ['signature']],
    ['is signed by another key', { signer: otherKeys.ec }, ['signature']],
    [`is signed by a ${otherSigner} without its certificate`, set(0x48, vlek ? 0 : 1 << 2), ['certificate_chain']],
    ['has a certificate of another name', { leaf: { subject: 'SEV-Other' } }, ['certificate_chain']],
    [`has a certificate of the name of a ${otherSigner}`, { leaf: { subject: `SEV-${otherSigner}` } }, ['certificate_chain']],
    ['has a certificate of another issuer', { leaf: { issuer: 'SEV-Other' } }, ['certificate_chain']],
    ['has a certificate that another key signed', { leaf: { signer: otherKeys.rsa } }, ['certificate_chain']],
    [
      'has a certificate with an unknown critical extension',
      { extensions: (all) => [...all, { name: '1.2.3', value: ia5(''), critical: true }] },
      ['certificate_chain'],
    ],
    ['has a certificate with an extension twice', { extensions: (all) => [...all, ...all.slice(0, 1)] }, ['certificate_chain']],
    ['has a certificate that is not valid any more', { leaf: { to: early } }, ['certificate_validity']],
    ['has a certificate that is not valid yet', { leaf: { from: new Date('2027-01-01') } }, ['certificate_validity']],
    [`has a certificate for ${other}`, replace(`${amd}.2`, ia5(`${other}-B0`)), ['product']],
    ['has a certificate without product', without(`${amd}.2`), ['product']],
    ['has a certificate for a stepping that is none', replace(`${amd}.2`, ia5(`${product}-B0-x`)), ['product']],
    ['has a certificate without the version of its extensions', without(`${amd}.1`), ['product']],
    ['has a certificate with another version of its extensions', replace(`${amd}.1`, number(1 - structVersion)), ['product']],
    [
      'has a certificate with a number that is not in its shortest form',
      replace(`${amd}.3.8`, Buffer.of(2, 2, 0, 115)),
      ['certificate_tcb'],
    ],
    ...versions.flatMap((each): Wrong => [
      [`has a certificate without version ${each}`, without(`${amd}.3.${each}`), ['certificate_tcb']],
      [`has a certificate of another version ${each}`, replace(`${amd}.3.${each}`, number(200)), ['certificate_tcb']],
    ]),
    ['has an intermediate that is no authority', { intermediate: { extensions: [noAuthority] } }, ['certificate_chain']],
    ['has an intermediate without key usage', { intermediate: { extensions: authority.slice(0, 1) } }, ['certificate_chain']],
    ['has an intermediate that another key signed', { intermediate: { signer: otherKeys.rsa } }, ['certificate_chain']],
    ['has an intermediate of another root', { intermediate: { issuer: 'ARK-Other' } }, ['certificate_chain']],
    ['has an intermediate that is not valid any more', { intermediate: { to: early } }, ['certificate_validity']],
    [`has an intermediate of ${other}`, { leaf: { issuer: anotherAbove }, intermediate: { subject: anotherAbove } }, ['product']],
    [
      `has a ${signer} of the authority of ${otherSigner}s`,
      { leaf: { issuer: otherAbove }, intermediate: { subject: otherAbove } },
      ['product'],
    ],
    ['has a root of another key', { root: { key: otherKeys.rsa } }, ['certificate_chain']],
    ['has a root that is no authority', { root: { extensions: [] } }, ['certificate_chain']],
    ['has a root that is not valid any more', { root: { to: early } }, ['certificate_validity']],
    ['has a root that nobody knows', { root: { subject: 'ARK-Rome' }, intermediate: { issuer: 'ARK-Rome' } }, ['product']],
    [`has a root of ${other}`, { root: { subject: `ARK-${other}` }, intermediate: { issuer: `ARK-${other}` } }, ['product']],
    ...(vlek ? wrongOfVlek : wrongOfVcek(chip)),
  ];
}

/** Changes that make what is special to a VCEK wrong, whose certificate has `size` bytes of the number of its chip. */
const wrongOfVcek = (size: number): Wrong => [
  ['is of another chip', set(0x1a0, 8), ['certificate_chip']],
  ['is of a chip whose number ends otherwise', set(0x1a0 + size - 1, 8), ['certificate_chip']],
  ['hides its chip', set(0x1a0, ...Array<number>(64).fill(0)), ['certificate_chip']],
  ['has a certificate without chip', without(`${amd}.4`), ['certificate_chip']],
  ['has a certificate of another chip', replace(`${amd}.4`, Buffer.alloc(size, 9)), ['certificate_chip']],
];

const wrongOfVlek: Wrong = [
  [
    'has a certificate with a chip',
    { extensions: (all) => [...all, { name: `${amd}.4`, value: ia5('') }] },
    ['certificate_chip'],
  ],
  ['has a certificate without provider', without(`${amd}.5`), ['certificate_chip']],
];

const wrong = snpProducts.flatMap((product) =>
  [false, true].flatMap((vlek) =>
    wrongOf(product, vlek).map(
      ([title, change, names]) => [product, vlek ? 'VLEK' : 'VCEK', title, { ...change, product, vlek }, names] as const,
    ),
  ),
);

const wrongOfTurin: Wrong = [
  [
    'is of version 2, which names no product',
    { report: (report) => report.fill(0, 0x188, 0x18b).fill(2, 0, 1) },
    ['product', 'certificate_chip', 'certificate_tcb'],
  ],
  ['has a number of a chip that is longer', set(0x1a8, 7), ['certificate_chip']],
  ['has a certificate for a chip with a longer number', replace(`${amd}.4`, Buffer.alloc(64, 7)), ['certificate_chip']],
];

describe('an SEV-SNP report with a chain of test keys', () => {
  it.each([false, true])('is verified if everything holds, with measurement and versions (VLEK: %s)', async (vlek) => {
    const { report, options } = forgeSnp({ vlek });
    const verdict = await verifySnpReport(report, options);
    expect(verdict).toMatchObject({ verdict: 'verified', platform: 'snp', measurement: 'ab'.repeat(48) });
    expect(verdict.tcb).toEqual({ bootloader: 3, tee: 1, snp: 8, microcode: 115 });
    expect(verdict.checks).toHaveLength(13);
    const said = { name: 'test_root', passed: true, detail: expect.stringContaining('proves nothing') };
    expect(verdict.checks.at(-1)).toEqual(said); // only the public vectors end at a root of AMD
  });

  it.each(wrong)(
    'is refused on %s with a %s, with the failing check named, if it %s',
    async (_product, _signer, _, change, names) => {
      const { report, options } = forgeSnp(change);
      const verdict = await verifySnpReport(report, options);
      expect([verdict.verdict, failing(verdict)]).toEqual(['refused', names]);
      expect(verdict.checks.map(({ detail }) => detail)).not.toContain('');
    },
  );

  it('proves no measurement and no versions if its signature or certificates do not hold', async () => {
    for (const change of [flip(0x90), { leaf: { signer: otherKeys.rsa } }, replace(`${amd}.3.1`, number(200))]) {
      const { report, options } = forgeSnp(change);
      expect(await verifySnpReport(report, options)).toMatchObject({ measurement: null, tcb: null });
    }
  });

  it('is verified with a chip that its certificate has in a DER octet string', async () => {
    const { report, options } = forgeSnp(replace(`${amd}.4`, octets(Buffer.alloc(64, 7))));
    expect(failing(await verifySnpReport(report, options))).toEqual([]);
  });

  it('is refused at every length but its own', async () => {
    const { report, options } = forgeSnp();
    for (const length of [0, 1, 0x2a0, 0x49f]) {
      const verdict = await verifySnpReport(report.subarray(0, length), options);
      expect([verdict.verdict, failing(verdict)]).toEqual(['refused', ['report_format']]);
    }
    expect(failing(await verifySnpReport(Buffer.concat([report, Buffer.of(0)]), options))).toEqual(['report_format']);
  });

  it('is refused without certificates, and by the roots of AMD', async () => {
    const { report, options } = forgeSnp();
    const { roots: _, ...trusting } = options;
    for (const each of [{ ...options, certificates: [] }, trusting]) {
      expect(failing(await verifySnpReport(report, each))).toEqual(['certificate_chain']);
    }
    expect(failing(await verifySnpReport(report, { ...options, certificates: [Buffer.from('no certificate')] }))).toEqual([
      'certificate_chain',
    ]);
  });

  it('is verified by the right one of several roots, issuers and leaves that have the same name', async () => {
    const { report, certificates, options } = forgeSnp();
    const [other, resigned] = [forgeSnp({ root: { key: otherKeys.rsa } }), forgeSnp({ leaf: { signer: otherKeys.rsa } })];
    const stranger = forgeSnp({ leaf: { key: otherKeys.ec }, intermediate: { key: otherKeys.rsa } }).certificates;
    const longer = forgeSnp({ leaf: { signer: otherKeys.rsa, to: new Date('2040-01-01') } }).certificates;
    const expired = forgeSnp({ root: { to: early } }).options.roots ?? [];
    for (const [more, roots] of [
      [[], [...(other.options.roots ?? []), ...expired]],
      [[...stranger, ...longer, ...resigned.certificates], expired],
    ] as const) {
      const all = { certificates: [...more, ...certificates], roots: [...roots, ...(options.roots ?? [])] };
      expect(failing(await verifySnpReport(report, { ...options, ...all }))).toEqual([]);
      expect(failing(await verifySnpReport(report, { ...options, ...all, roots }))).not.toEqual([]);
    }
    const roots = [
      ...(other.options.roots ?? []),
      ...(forgeSnp({ root: { key: otherKeys.rsa, serial: 7 } }).options.roots ?? []),
    ];
    const { checks } = await verifySnpReport(report, { ...options, roots });
    expect(checks.find(({ name }) => name === 'certificate_chain')?.detail).toMatch(
      /^with "ARK-Milan" number 01: .* is not signed by "ARK-Milan"; with "ARK-Milan" number 07: .* is not signed by "ARK-Milan"$/,
    );
  });

  it('is bound to a certificate byte for byte, or to a nonce, and refused if it is bound to nothing', async () => {
    const { report, options } = forgeSnp();
    const nonce = report.subarray(0x50, 0x90);
    expect((await verifySnpReport(report, { ...options, boundTo: { nonce } })).verdict).toBe('verified');
    for (const boundTo of [
      null,
      { certificate: 'the PEM of a certificate' },
      { nonce: nonce.subarray(0, 32) },
      { nonce: Buffer.alloc(8) },
    ]) {
      expect(failing(await verifySnpReport(report, { ...options, boundTo }))).toEqual(['report_data']);
    }
  });

  it('takes of several certificates the one of its versions', async () => {
    const older = forgeSnp(replace(`${amd}.3.8`, number(1)));
    const { report, options, certificates } = forgeSnp();
    const all = { ...options, certificates: [...older.certificates, ...certificates] };
    expect((await verifySnpReport(report, all)).verdict).toBe('verified');
  });

  it('is verified beside a certificate that cannot be read, which it says', async () => {
    const { report, options, certificates } = forgeSnp();
    const given = { ...options, certificates: [Buffer.of(0x30), ...certificates, Buffer.from('garbage')] };
    const verdict = await verifySnpReport(report, given);
    expect(verdict.verdict).toBe('verified');
    const chain = verdict.checks.find(({ name }) => name === 'certificate_chain');
    expect(chain?.detail).toContain('; 2 left out that cannot be read: ');
  });

  it('is verified by a PEM file in which another certificate cannot be read, which it says', async () => {
    const { report, options, certificates } = forgeSnp();
    const garbage = (text: string) => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;
    const file = [garbage('MAA='), ...certificates.map(pem), garbage('****')].join('');
    const verdict = await verifySnpReport(report, { ...options, certificates: [Buffer.from(file)] });
    expect(verdict.verdict).toBe('verified');
    const chain = verdict.checks.find(({ name }) => name === 'certificate_chain');
    expect(chain?.detail).toContain('; 2 left out that cannot be read: ');
  });

  it('lacks nothing but its certificate, also where another one cannot be read, only if the rest holds', async () => {
    const lacks = async (change: SnpChange, given: Uint8Array[]) => {
      const { report, options } = forgeSnp(change);
      return lacksCertificate(await verifySnpReport(report, { ...options, certificates: given }));
    };
    expect(await lacks({}, [])).toBe(true);
    expect(await lacks({ vlek: true }, [Buffer.from('garbage')])).toBe(true);
    expect(await lacks({}, forgeSnp().certificates.slice(0, 2))).toBe(false);
    expect(await lacks(set(0x50, 0), [Buffer.of(0x30)])).toBe(false);
  });

  it('is unsupported on a product that nobody knows, by name', async () => {
    const { report, options } = forgeSnp(set(0x188, 0x1a, 0x50));
    const verdict = await verifySnpReport(report, options);
    expect([verdict.verdict, verdict.platform, failing(verdict), verdict.measurement]).toEqual([
      'unsupported',
      'snp-family-26-model-80',
      ['product'],
      null,
    ]);
  });

  it.each(['Genoa', 'Turin'] as const)('is verified on %s, whose versions it names', async (product) => {
    for (const vlek of [false, true]) {
      const { report, options } = forgeSnp({ product, vlek });
      const verdict = await verifySnpReport(report, options);
      expect([verdict.verdict, verdict.platform, failing(verdict)]).toEqual(['verified', 'snp', []]);
      const ofBoth = { bootloader: 3, tee: 1, snp: 8, microcode: 115 };
      expect(verdict.tcb).toEqual(product === 'Turin' ? { fmc: 2, ...ofBoth } : ofBoth);
    }
  });

  it.each(wrongOfTurin)('is refused on Turin, with the failing check named, if it %s', async (_, change, names) => {
    const { report, options } = forgeSnp({ ...change, product: 'Turin' });
    const verdict = await verifySnpReport(report, options);
    expect([verdict.verdict, failing(verdict)]).toEqual(['refused', names]);
  });
});

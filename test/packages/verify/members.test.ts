import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { resultStatementSchema, statementSchema } from '../../../packages/verify/statement.ts';
import { amount, oneOf, sampleSeed } from '../../support/amounts.ts';
import { strictPolicy } from '../../support/strict-policy.ts';
import { byTestRoots } from '../attestation/by-test-roots.ts';
import { coseOf } from '../attestation/forge-snp.ts';
import { bodyOf, currentAt, forgeTdx } from '../attestation/forge-tdx.ts';
import { certificatePem } from '../formats/openssh-keys.ts';
import { checkEvidence } from './check-by-test-roots.ts';
import { aToken, filesOf, genuineEvidence } from './genuine-evidence.ts';
import { filesOfResult, genuineResult } from './genuine-result.ts';

/** The paths of all members that a schema lists, with `[]` for the entries of a list. */
function pathsOf(schema: v.GenericSchema, path = ''): string[] {
  const { entries, item, wrapped, pipe } = schema as never as {
    entries?: Record<string, v.GenericSchema>;
    item?: v.GenericSchema;
    wrapped?: v.GenericSchema;
    pipe?: v.GenericSchema[];
  };
  if (entries) {
    const prefix = path === '' ? '' : `${path}.`;
    return Object.entries(entries).flatMap(([name, inner]) => [`${prefix}${name}`, ...pathsOf(inner, `${prefix}${name}`)]);
  }
  if (item) return pathsOf(item, `${path}[]`);
  const inner = wrapped ?? (pipe?.[0] === schema ? undefined : pipe?.[0]);
  return inner ? pathsOf(inner, path) : [];
}

/** Genuine evidence in which all that may be there is there: tokens of SNP and TDX, and an approval with every limit. */
async function wholeEvidence() {
  const quote = (bytes: Buffer) =>
    void createHash('sha512')
      .update(certificatePem)
      .digest()
      .copy(bytes, bodyOf(bytes) + 520);
  const tdx = forgeTdx({ ...currentAt('2025-07-17T08:00:00.000Z'), quote });
  const token = Buffer.from(coseOf({ platform_type: 'TDX', raw_report: tdx.quote }));
  const { measurement } = await byTestRoots.verifyTdxQuote(tdx.quote, tdx.options);
  const { before } = genuineEvidence(2);
  const made = genuineEvidence(2, {
    level: 'all',
    tokens: [{ token: aToken().token }, { token, collateral: [tdx.collateral] }],
    configure: (configuration) => {
      configuration.result_review = { reviewers: ['alice'], needed: 1, consumers: ['bob', 'carol'] };
      const { attestation_policy: policy } = configuration;
      if (policy) policy.measurements = [...policy.measurements, measurement ?? ''];
    },
    change: (start) => {
      start.result_consumers = ['bob', 'carol'];
      start.assets.forEach((asset, place) => (asset.creator = ['alice', 'bob', 'carol'][place] ?? ''));
      const minimum_tcb = { bootloader: 3, tee: 0, snp: 8, microcode: 115, fmc: null };
      const release_policy = { ...strictPolicy, minimum_tcb };
      Object.assign(start.assets[0] ?? {}, { key: { fingerprint: 'ab'.repeat(32), held: 'party', release_policy } });
      const [head] = before;
      const [, , , dave] = start.approvals;
      if (head && dave)
        Object.assign(dave, {
          journal_head: { id: head.id, hash: head.hash },
          cvm_ids: ['cvm-1'],
          max_runs: 3,
          use: 2,
          approval_id: head.id,
        });
    },
  });
  const files = filesOf({ ...made, events: [...made.before, ...made.events] });
  return { made, files: { ...files, tokens: made.tokens, roots: [...files.roots, ...(tdx.options.roots ?? [])] } };
}

type Node = Record<string, unknown>;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** The nodes that have the last member of a path: of a list those of all entries. */
function holdersOf(root: Node, path: string): Node[] {
  const names = path.split('.').slice(0, -1);
  return names.reduce<Node[]>(
    (nodes, name) =>
      nodes.flatMap((node) => {
        const inner = node[name.replace('[]', '')];
        return name.endsWith('[]') ? (inner as Node[]) : [inner].filter(isNode);
      }),
    [root],
  );
}

const isTime = (text: string) => /^\d{4}-\d\d-\d\dT/.test(text);

/** Makes another value of the same kind, as a service would choose it: a time nearby, a text, a number, or a shorter list. */
function otherThan(value: unknown): unknown {
  if (typeof value === 'string' && isTime(value)) return new Date(Date.parse(value) - 1_000).toISOString();
  if (typeof value === 'string') {
    const middle = Math.floor(value.length / 2);
    return `${value.slice(0, middle)}${value[middle] === 'x' ? 'y' : 'x'}${value.slice(middle + 1)}`;
  }
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value)) return value.length === 0 ? ['x'] : value.slice(1);
  return value === null ? 'x' : null;
}

const documentation = readFileSync(new URL('../../../docs/evidence.md', import.meta.url), 'utf8');
/** The rows of the table of members in docs/evidence.md: the members, by path, and whether something binds them. */
const rows = documentation
  .split('\n')
  .map((line) => /^\| (`.*?) +\| (.*?) +\| \[.*\]\((.*?)\) +\|$/.exec(line))
  .filter((row) => row !== null)
  .map(([, members = '', binds = '', test = '']) => ({
    members: [...members.matchAll(/`(.*?)`/g)].map(([, path = '']) => path),
    isUnbound: binds.startsWith('**unbound**'),
    test,
  }));

/** Returns the row about a member: the one with the longest path that is the member, or a part above it. */
function rowOf(path: string) {
  const fits = (member: string) => path === member || path.startsWith(`${member}.`) || path.startsWith(`${member}[]`);
  const found = rows.flatMap((row) => row.members.filter(fits).map((member) => ({ row, member })));
  return found.sort((one, other) => other.member.length - one.member.length)[0]?.row;
}

const paths = pathsOf(statementSchema);
const ofResult = pathsOf(resultStatementSchema, 'result');
/** The members that this run tries: in a sample every sixth, which the seed chooses. */
const sampled = (all: string[]) => all.filter((_, at) => amount({ sample: (at + sampleSeed) % 6 === 0, full: true }));
const changed = sampled(paths);

describe(`the table of members in docs/evidence.md (seed ${sampleSeed})`, () => {
  it('has a row for each member that the schema of the verifier lists, and no others', () => {
    expect(paths.length).toBeGreaterThan(90);
    const all = [...paths, 'result', ...ofResult];
    expect(all.filter((path) => !rowOf(path))).toEqual([]);
    expect(rows.flatMap(({ members }) => members).filter((member) => !all.includes(member))).toEqual([]);
  });

  it('names tests that exist', () => {
    for (const { test } of rows) expect(() => readFileSync(new URL(`../../../docs/${test}`, import.meta.url))).not.toThrow();
  });

  it('says what is unbound: a service that changes another member and signs again is found', async () => {
    const { made, files } = await wholeEvidence();
    const before = await checkEvidence(files);
    expect(before.filter(({ verdict }) => verdict === 'does not hold')).toEqual([]);
    const unfound = [];
    for (const path of changed) {
      const name = path.split('.').at(-1) ?? '';
      const places = holdersOf(made.statement, path).length;
      expect([path, places > 0 || /\.(source|kbs|pcrs)\./.test(path)]).toEqual([path, true]);
      for (let place = 0; place < places; place++) {
        const statement = structuredClone(made.statement);
        const holder = holdersOf(statement, path)[place] ?? {};
        holder[name] = otherThan(holder[name]);
        const evidence = JSON.stringify({ statement, signature: made.signed(statement), key_id: made.key_id, log: made.log });
        const found = (await checkEvidence({ ...files, evidence })).some(({ verdict }) => verdict === 'does not hold');
        if (!found) unfound.push(path);
      }
    }
    expect([...new Set(unfound)].sort()).toEqual(changed.filter((path) => rowOf(path)?.isUnbound).sort());
  });

  it('says what is unbound in the statement about a result', async () => {
    const genuine = genuineResult({ decisions: [0, 1].map((reviewer) => [reviewer, 'release']) });
    const files = filesOfResult(genuine, genuine.statement);
    const whole = JSON.parse(files.result) as object;
    const tried = sampled(ofResult);
    const unfound = [];
    for (const path of tried) {
      const lied = { result: structuredClone(genuine.statement) };
      const name = path.split('.').at(-1) ?? '';
      const [holder = {}] = holdersOf(lied, path);
      holder[name] = otherThan(holder[name]);
      const result = JSON.stringify({ ...whole, statement: lied.result, signature: genuine.made.signed(lied.result) });
      const findings = await checkEvidence({ ...files, result });
      if (!findings.some(({ verdict }) => verdict === 'does not hold')) unfound.push(path);
    }
    expect(unfound).toEqual(tried.filter((path) => rowOf(path)?.isUnbound));
  });

  it('is found where a service adds a member that the schema does not list, at every level', async () => {
    const { made, files } = await wholeEvidence();
    const objects = [
      '',
      ...paths.filter((path) => paths.some((each) => each.startsWith(`${path}.`) || each.startsWith(`${path}[].`))),
    ];
    for (const path of sampled(objects)) {
      const isList = paths.some((each) => each.startsWith(`${path}[].`));
      for (const holder of holdersOf(made.statement, path === '' ? 'x' : `${path}${isList ? '[]' : ''}.x`)) {
        for (const name of oneOf(['exit_code', 'constructor', '__proto__'])) {
          Object.defineProperty(holder, name, { value: 0, enumerable: true, configurable: true, writable: true });
          const evidence = JSON.stringify({
            statement: made.statement,
            signature: made.signed(made.statement),
            key_id: made.key_id,
            log: made.log,
          });
          const said = (await checkEvidence({ ...files, evidence })).filter(({ verdict }) => verdict === 'does not hold');
          expect([
            path,
            name,
            said.some(({ sentence }) => sentence.includes(name) && sentence.includes('nobody checks')),
          ]).toEqual([path, name, true]);
          Reflect.deleteProperty(holder, name);
        }
      }
    }
  });
});

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { changesBetween } from 'computation-management-formats/covered-changes';
import { manifest } from '../../../shared/openapi/examples.ts';

const dataset = (filename: string, first = 1) => ({
  filename,
  hash: [first, ...Array<number>(31).fill(0)],
  user_key: `key of ${filename}`,
});
const policy = {
  platforms: ['snp'],
  measurements: ['ab'],
  minimum_tcb: { bootloader: 1, tee: 2, snp: 3, microcode: 4 },
  allow_debug: false,
};
const approved = {
  manifest: { ...manifest, datasets: [dataset('a.csv'), dataset('b.csv')] },
  configuration: {
    agent_config: { cert_file: 'cert', server_ca_file: '', client_ca_file: '', attested_tls: true },
    approval: 'all',
    attestation_policy: policy,
    log_access: 'none',
  },
};

/** Lists all places in a JSON value, as JSON pointers, that could have another value. */
function placesIn(value: unknown, path = ''): string[] {
  const isPart = typeof value === 'object' && value !== null && !(Array.isArray(value) && typeof value[0] === 'number');
  return isPart ? Object.entries(value).flatMap(([name, part]) => placesIn(part, `${path}/${name}`)) : [path];
}

function withOther(path: string): typeof approved {
  const copy = structuredClone(approved);
  const names = path.split('/').slice(1);
  const last = names.pop() ?? '';
  const parent = names.reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], copy) as Record<string, unknown>;
  const before = parent[last];
  parent[last] = Array.isArray(before)
    ? [9, ...(before.slice(1) as number[])]
    : typeof before === 'boolean'
      ? !before
      : `${String(before)}x`;
  return copy;
}

describe('changesBetween', () => {
  it.each(placesIn(approved).filter((path) => !path.endsWith('/filename')))('names %s if it alone changes', (path) => {
    expect(changesBetween(approved, withOther(path))).toMatchObject([{ path }]);
  });

  it('names nothing if nothing changes', () => {
    expect(changesBetween(approved, structuredClone(approved))).toEqual([]);
  });

  const withDatasets = (...datasets: ReturnType<typeof dataset>[]) =>
    changesBetween(approved, { ...approved, manifest: { ...approved.manifest, datasets } });
  const changesOf = (index: number, name: string, [one, other]: [boolean, boolean]) =>
    Object.entries({ filename: name, hash: `01${'00'.repeat(31)}`, user_key: `key of ${name}` }).map(([field, value]) => ({
      path: `/manifest/datasets/${index}/${field}`,
      approved: one ? value : null,
      current: other ? value : null,
      places: [one ? index : undefined, other ? index : undefined],
    }));
  const byPath = (changes: { path: string }[]) => changes.toSorted((a, b) => (a.path < b.path ? -1 : 1));

  it('matches datasets by their file names, and gives hashes in hex', () => {
    expect(withDatasets(dataset('a.csv'), dataset('b.csv', 2))).toEqual([
      { path: '/manifest/datasets/1/hash', approved: `01${'00'.repeat(31)}`, current: `02${'00'.repeat(31)}`, places: [1, 1] },
    ]);
    expect(byPath(withDatasets(dataset('b.csv')))).toEqual(changesOf(0, 'a.csv', [true, false]));
    expect(byPath(withDatasets(dataset('a.csv'), dataset('b.csv'), dataset('c.csv')))).toEqual(
      changesOf(2, 'c.csv', [false, true]),
    );
    expect(withDatasets(dataset('b.csv'), dataset('a.csv'))).toEqual([
      { path: '/manifest/datasets/0/filename', approved: 'a.csv', current: 'b.csv', places: [0, 0] },
      { path: '/manifest/datasets/1/filename', approved: 'b.csv', current: 'a.csv', places: [1, 1] },
    ]);
  });

  it('matches receivers of the result by user, whatever their order, and names added ones first, removed ones last', () => {
    const covered = (receivers: Record<string, string>, name = 'Iris') => ({
      ...approved,
      manifest: { ...approved.manifest, name, result_consumers: Object.values(receivers).map((user_key) => ({ user_key })) },
      receivers: Object.keys(receivers),
    });
    const before = covered({ alice: 'a', bob: 'b', carol: 'c' });
    const path = (index: number) => `/manifest/result_consumers/${index}/user_key`;
    expect(changesBetween(before, covered({ alice: 'a', carol: 'c', dave: 'd' }, 'Iris 2'))).toEqual([
      { path: path(2), approved: null, current: 'd', places: [undefined, 2] },
      { path: '/manifest/name', approved: 'Iris', current: 'Iris 2' },
      { path: path(1), approved: 'b', current: null, places: [1, undefined] },
    ]);
    const replaced = { path: path(2), approved: 'b', current: 'b2', places: [1, 2] };
    expect(changesBetween(before, covered({ alice: 'a', carol: 'c', bob: 'b2' }))).toEqual([replaced]);
    expect(changesBetween(before, covered({ alice: 'a', carol: 'c', bob: 'b' }))).toEqual([]);
    expect(changesBetween(before, covered({ alice: 'a', bob: 'b', carol: 'b' }))).toMatchObject([
      { approved: 'c', current: 'b' },
    ]);
  });

  it('compares lists of a policy as sets, and names what a policy allows in addition before what it no longer allows', () => {
    const withMeasurements = (measurements: string[]) => ({
      ...approved,
      configuration: { ...approved.configuration, attestation_policy: { ...policy, measurements } },
    });
    const before = withMeasurements(['b', 'c', 'd']);
    const path = (index: number) => `/configuration/attestation_policy/measurements/${index}`;
    expect(changesBetween(before, withMeasurements(['a', 'b', 'c', 'd']))).toEqual([
      { path: path(0), approved: null, current: 'a' },
    ]);
    expect(changesBetween(before, withMeasurements(['d', 'x']))).toEqual([
      { path: path(1), approved: 'c', current: 'x' },
      { path: path(0), approved: 'b', current: null },
    ]);
    expect(changesBetween(before, withMeasurements(['d', 'c', 'b']))).toEqual([]);
    const [first] = changesBetween(withMeasurements(['b', 'c', 'd', 'e', 'f']), withMeasurements(['e', 'f', 'g', 'x', 'y', 'z']));
    expect(first?.current).not.toBeNull(); // what goes does not put off what comes
  });

  it.each([null, { sha256: {} }])(
    'names three PCRs that a policy lacks (%o) before a changed file, and the others after it',
    (fewer) => {
      const pcrs = { sha256: Object.fromEntries(Array.from({ length: 24 }, (_, place) => [place, 'a'.repeat(64)])) };
      const withPolicy = (given: object, datasets = approved.manifest.datasets) => ({
        manifest: { ...approved.manifest, datasets },
        configuration: { ...approved.configuration, attestation_policy: { ...policy, ...given } },
      });
      const changes = changesBetween(withPolicy({ pcrs }), withPolicy({ pcrs: fewer }, [dataset('a.csv', 9), dataset('b.csv')]));
      expect(changes.map(({ path }) => path).indexOf('/manifest/datasets/0/hash')).toBe(3);
      expect(changes).toHaveLength(25);
    },
  );

  it('names PCRs that a policy lacks before those that have another value', () => {
    const pcrs = (from: number, to: number, digit: string) =>
      Object.fromEntries(Array.from({ length: to - from }, (_, place) => [from + place, digit.repeat(64)]));
    const withPcrs = (sha256: object) => ({
      ...approved,
      configuration: { ...approved.configuration, attestation_policy: { ...policy, pcrs: { sha256 } } },
    });
    const changes = changesBetween(withPcrs(pcrs(0, 10, 'a')), withPcrs(pcrs(0, 3, 'b')));
    expect(changes.slice(0, 3).map(({ current }) => current)).toEqual([null, null, null]);
    expect(changes).toHaveLength(10);
  });

  it('names each part of what is added or removed', () => {
    const without = { ...approved, configuration: { ...approved.configuration, attestation_policy: null } };
    const paths = placesIn({ configuration: { attestation_policy: policy } }).sort();
    const byPath = (one: { path: string }, other: { path: string }) => (one.path < other.path ? -1 : 1);
    expect(
      changesBetween(approved, without)
        .sort(byPath)
        .map(({ path, current }) => [path, current]),
    ).toEqual(paths.map((path) => [path, null]));
    expect(
      changesBetween(without, approved)
        .sort(byPath)
        .map(({ path, approved }) => [path, approved]),
    ).toEqual(paths.map((path) => [path, null]));
  });

  it('shortens values of more than 200 characters to their hash', () => {
    const withText = (description: string) => ({ ...approved, manifest: { ...approved.manifest, description } });
    const long = 'é'.repeat(201);
    expect(changesBetween(withText('𝓐'.repeat(200)), withText(long))).toEqual([
      {
        path: '/manifest/description',
        approved: '𝓐'.repeat(200),
        current: `sha256:${createHash('sha256').update(long).digest('hex')}`,
      },
    ]);
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFunctions } from '../infra/bundles/bundle-functions.ts';
import { bareClient, bundleProgram, compareImports } from './cold-import.ts';
import { printTable } from './print-table.ts';

/**
 * Measures how the import time of a bundle grows with its size, for functions of the service and for a bare DynamoDB document
 * client with added libraries. Added code is either loaded, by a static import, or only contained, by an `import()` that never
 * runs. Use `--turns=31` for more precise results.
 */
const turns = Number(/^--turns=(\d+)$/.exec(process.argv[2] ?? '')?.[1] ?? 15);

const presigner = `
  import { fromEnv } from '@aws-sdk/credential-provider-env';
  import { S3RequestPresigner } from '@aws-sdk/s3-request-presigner';
  import { Sha256 } from '@smithy/core/checksum';
  import { HttpRequest } from '@smithy/core/transport';
  export const sign = () => [new S3RequestPresigner({ region: 'local', credentials: fromEnv(), sha256: Sha256 }), HttpRequest];
`;
const s3Client = `
  import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
  export const store = () => [new S3Client({}), GetObjectCommand, PutObjectCommand, DeleteObjectCommand];
`;
const loads = (names: string[]) =>
  names.map((name, index) => `import * as l${index} from '${name}'; export { l${index} };`).join('');
const contains = (names: string[]) => `export const later = [${names.map((name) => `() => import('${name}')`).join()}];`;
const cumulated = ['ajv', 'jose', 'fast-check'].map((_, index, all) => all.slice(0, index + 1));

const programs: { name: string; contents: string; kind: Kind }[] = [
  { name: 'bare client', contents: bareClient, kind: 'reference' },
  { name: 'presigner', contents: bareClient + presigner, kind: 'storage' },
  { name: 'presigner + S3 client', contents: bareClient + presigner + s3Client, kind: 'storage' },
  ...cumulated.map((added) => ({ name: added.join(' + '), contents: bareClient + loads(added), kind: 'loaded' as const })),
  { name: 'client-sfn', contents: bareClient + loads(['@aws-sdk/client-sfn']), kind: 'loaded' },
  ...cumulated.map((added) => ({ name: added.join(' + '), contents: bareClient + contains(added), kind: 'contained' as const })),
];

type Kind = 'reference' | 'storage' | 'loaded' | 'contained' | 'function';

interface Point {
  kind: Kind;
  name: string;
  KB: number;
  ms: number;
  ratio: number;
}

/** Returns the milliseconds for each further 100 KB, fitted by least squares through the bare client. */
function slope(points: Point[], bare: { KB: number; ms: number }): number {
  const steps = points.map(({ KB, ratio }) => ({ size: (KB - bare.KB) / 100, time: (ratio - 1) * bare.ms }));
  const sum = (of: (step: { size: number; time: number }) => number) => steps.reduce((total, step) => total + of(step), 0);
  return sum(({ size, time }) => size * time) / sum(({ size }) => size * size);
}

const folder = mkdtempSync(join(tmpdir(), 'bundle-size-'));
try {
  const files: { kind: Kind; name: string; bytes: number; file: string }[] = [];
  for (const [index, { kind, name, contents }] of programs.entries()) {
    const file = join(folder, `${index}.mjs`);
    files.push({ kind, name, file, bytes: await bundleProgram(contents, file) });
  }
  const bundles = (await bundleFunctions(folder)).sort((a, b) => a.bytes - b.bytes);
  for (const { name, bytes } of bundles.filter((_, index) => index % 6 === 0)) {
    files.push({ kind: 'function', name, bytes, file: join(folder, name, 'index.mjs') });
  }
  const [reference] = files;
  if (!reference) throw new TypeError('The reference is missing.');

  const compared = compareImports(
    files.map(({ file }) => file),
    reference.file,
    turns,
  );
  const bare = { KB: reference.bytes / 1000, ms: compared[0]?.referenceInMilliseconds ?? Number.NaN };
  const points = files.map(({ kind, name, bytes }, index): Point => {
    const ratio = compared[index]?.ratio ?? Number.NaN;
    return { kind, name, KB: round(bytes / 1000, 1), ms: round(ratio * bare.ms, 1), ratio: round(ratio, 3) };
  });
  printTable(points);
  for (const kind of ['loaded', 'contained'] as const) {
    const ofKind = points.filter((point) => point.kind === kind);
    console.log(`\n100 KB more, ${kind}: ${slope(ofKind, bare).toFixed(1)} ms`);
  }
  console.log(`\nUser CPU time; ratios to the bare client (${bare.ms.toFixed(1)} ms), medians of ${turns} turns.`);
} finally {
  rmSync(folder, { recursive: true });
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleFunctions } from '../../infra/bundles/bundle-functions.ts';
import { bundleOptions } from '../../infra/bundles/bundle-options.ts';
import { printTable } from './print-table.ts';

/**
 * Measures how the import time of a bundle grows with its size, for functions of the service and for a bare DynamoDB document
 * client with added libraries. Added code is either loaded, by a static import, or only contained, by an `import()` that never
 * runs. Use `--turns=31` for more precise results.
 */
const turns = Number(/^--turns=(\d+)$/.exec(process.argv[2] ?? '')?.[1] ?? 15);

/** The minimum that every function with a table loads. */
const bareClient = `
  import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
  import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
  const open = () => DynamoDBDocumentClient.from(new DynamoDBClient({}));
  export const handler = (Key) => open().send(new GetCommand({ TableName: 'table', Key }));
`;

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
  for (const { name, bytes } of bundles.filter((_, index) => index % 6 === 0 || index === bundles.length - 1)) {
    files.push({ kind: 'function', name, bytes, file: join(folder, name, 'index.mjs') });
  }
  const [reference] = files;
  if (!reference) throw new TypeError('The reference is missing.');

  const paths = files.map(({ file }) => file);
  const compared = compareImports(paths, reference.file, turns);
  const bare = { KB: reference.bytes / 1000, ms: compared[0]?.referenceInMilliseconds ?? Number.NaN };
  const points = files.map(({ kind, name, bytes }, index): Point => {
    const ratio = compared[index]?.ratio ?? Number.NaN;
    return { kind, name, KB: Math.round(bytes / 100) / 10, ms: Math.round(ratio * bare.ms * 10) / 10, ratio };
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

/** Bundles a program with the options of functions. Returns its size in bytes. */
async function bundleProgram(contents: string, outfile: string): Promise<number> {
  const { outExtension: _, ...options } = bundleOptions;
  const stdin = { contents, resolveDir: join(import.meta.dirname, '../..') };
  await build({ ...options, stdin, outfile });
  return statSync(outfile).size;
}

/** In a new process. Returns its CPU time in user mode, because wall time depends on what else the machine does. */
function importInMilliseconds(file: string): number {
  const script = `const start = process.cpuUsage(); await import(${JSON.stringify(file)}); console.log(process.cpuUsage(start).user / 1000);`;
  return Number(execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }));
}

interface Comparison {
  referenceInMilliseconds: number;
  /** Between consecutive imports of the file and the reference. */
  ratio: number;
}

/** Imports files and a reference alternately, because the machine's speed changes over minutes. */
function compareImports(files: string[], reference: string, turns: number): Comparison[] {
  const times = files.map(() => ({ own: [] as number[], reference: [] as number[] }));
  for (let turn = 0; turn < turns; turn++) {
    for (const [index, file] of files.entries()) {
      const measure = [
        () => times[index]?.reference.push(importInMilliseconds(reference)),
        () => times[index]?.own.push(importInMilliseconds(file)),
      ];
      for (const each of turn % 2 === 0 ? measure : measure.reverse()) each();
    }
  }
  return times.map(({ own, reference: references }) => ({
    referenceInMilliseconds: median(references),
    ratio: median(own.map((milliseconds, turn) => milliseconds / (references[turn] ?? Number.NaN))),
  }));
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleFunctions } from '../infra/bundles/bundle-functions.ts';
import { bundleOptions } from '../infra/bundles/bundle-options.ts';

/**
 * What a cold start loads: the size of each function's bundle, and how long its import takes, as a multiple of the import of a
 * bare DynamoDB document client that is bundled the same way. Each import is in a fresh process; the two take turns, since the
 * machine's speed changes over minutes, and the ratio is the median of the turns. `--runs=15` is more exact.
 */
const runs = Number(/^--runs=(\d+)$/.exec(process.argv[2] ?? '')?.[1] ?? 7);

const bareClient = `
  import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
  import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
  const open = () => DynamoDBDocumentClient.from(new DynamoDBClient({}));
  export const handler = (Key) => open().send(new GetCommand({ TableName: 'table', Key }));
`;

async function bundleBareClient(folder: string): Promise<string> {
  const outfile = join(folder, 'bare-client.mjs');
  const { outExtension: _, ...options } = bundleOptions;
  await build({ ...options, stdin: { contents: bareClient, resolveDir: join(import.meta.dirname, '..') }, outfile });
  return outfile;
}

function importInMilliseconds(file: string): number {
  const script = `const start = performance.now(); await import(${JSON.stringify(file)}); console.log(performance.now() - start);`;
  return Number(execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }));
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

const folder = mkdtempSync(join(tmpdir(), 'cold-'));
try {
  const bare = await bundleBareClient(folder);
  const bundles = (await bundleFunctions(folder)).sort((a, b) => b.bytes - a.bytes);
  console.log(`${'function'.padEnd(36)}${'KB'.padStart(7)}${'ms'.padStart(7)}${'ratio'.padStart(7)}`);
  const bareTimes: number[] = [];
  let worst = 0;
  for (const { name, bytes } of bundles) {
    const turns = Array.from({ length: runs }, () => {
      const times = { bare: importInMilliseconds(bare), own: importInMilliseconds(join(folder, name, 'index.mjs')) };
      bareTimes.push(times.bare);
      return times;
    });
    const ratio = median(turns.map(({ own, bare: reference }) => own / reference));
    worst = Math.max(worst, ratio);
    const milliseconds = median(turns.map(({ own }) => own));
    const cells = [(bytes / 1000).toFixed(1), milliseconds.toFixed(1), ratio.toFixed(2)];
    console.log(name.padEnd(36) + cells.map((cell) => cell.padStart(7)).join(''));
  }
  console.log(`\nbare client: ${median(bareTimes).toFixed(1)} ms; largest ratio ${worst.toFixed(2)}; ${runs} runs each, medians`);
} finally {
  rmSync(folder, { recursive: true });
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFunctions } from '../infra/bundles/bundle-functions.ts';
import { bareClient, bundleProgram, compareImports, median } from './cold-import.ts';

/**
 * Measures what a cold start loads: the size of each function's bundle and the user CPU time of its import. `ratio` is the time
 * divided by that of a bare DynamoDB document client, bundled in the same way. Use `--runs=15` for more precise results.
 */
const runs = Number(/^--runs=(\d+)$/.exec(process.argv[2] ?? '')?.[1] ?? 7);

const folder = mkdtempSync(join(tmpdir(), 'cold-'));
try {
  const bare = join(folder, 'bare-client.mjs');
  await bundleProgram(bareClient, bare);
  const bundles = (await bundleFunctions(folder)).sort((a, b) => b.bytes - a.bytes);
  const compared = compareImports(
    bundles.map(({ name }) => join(folder, name, 'index.mjs')),
    bare,
    runs,
  );
  console.log(`${'function'.padEnd(36)}${'KB'.padStart(7)}${'ms'.padStart(7)}${'ratio'.padStart(7)}`);
  for (const [index, { name, bytes }] of bundles.entries()) {
    const { milliseconds = Number.NaN, ratio = Number.NaN } = compared[index] ?? {};
    const cells = [(bytes / 1000).toFixed(1), milliseconds.toFixed(1), ratio.toFixed(2)];
    console.log(name.padEnd(36) + cells.map((cell) => cell.padStart(7)).join(''));
  }
  const worst = Math.max(...compared.map(({ ratio }) => ratio));
  const reference = median(compared.map(({ referenceInMilliseconds }) => referenceInMilliseconds));
  console.log(`\nbare client: ${reference.toFixed(1)} ms; largest ratio ${worst.toFixed(2)}; ${runs} runs each, medians`);
} finally {
  rmSync(folder, { recursive: true });
}

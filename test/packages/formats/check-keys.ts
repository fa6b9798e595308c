import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { keyCorpus } from './key-corpus.ts';
import { verdictOf } from './key-verdicts.ts';

/** Judges the corpus of keys by this Node and by each that is given (`npm run check:keys -- /usr/bin/node …`), and compares the verdicts. */
const folder = mkdtempSync(join(tmpdir(), 'keys-'));
const program = join(folder, 'verdicts.mjs');
const contents = `import { verdictOf } from './key-verdicts.ts';
import { readFileSync } from 'node:fs';
process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map(verdictOf)));`;
const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" };
try {
  const stdin = { contents, resolveDir: import.meta.dirname };
  await build({ stdin, outfile: program, bundle: true, platform: 'node', target: 'node20', format: 'esm', banner });
  const own = keyCorpus.map(verdictOf);
  const wrong = keyCorpus.filter(({ refused }, at) => !own[at]?.includes(refused ?? 'taken:'));
  for (const { what, field } of wrong) console.log(`${process.version} WRONG in ${field}: ${what}`);
  let different = 0;
  for (const node of process.argv.slice(2)) {
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
    const input = JSON.stringify(keyCorpus);
    const output = execFileSync(node, [program], { input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
    const verdicts = JSON.parse(output) as string[];
    const others = keyCorpus.filter((_, at) => verdicts[at] !== own[at]);
    for (const { what, field } of others) console.log(`${version} DIFFERENT in ${field}: ${what}`);
    different += others.length;
    console.log(
      `${version}: ${keyCorpus.length - others.length} of ${keyCorpus.length} verdicts are those of ${process.version}.`,
    );
  }
  console.log(`${process.version}: ${keyCorpus.length - wrong.length} of ${keyCorpus.length} verdicts are right.`);
  process.exitCode = wrong.length + different === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}

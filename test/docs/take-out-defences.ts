import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitsWith0, makeWorkingCopy } from './working-copy.ts';
import { attempts, testsIn } from './attempts.ts';
import { defences } from './defences.ts';

/**
 * Takes out each defence of the threat model in turn, and runs the tests that its line names, of which one must fail. With words, only
 * lines that have one of them (`npm run mutants:defences -- signature`).
 */
const words = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'defences-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const copy = makeWorkingCopy(join(folder, 'copy'));

/** The titles may have placeholders. */
const patternOf = (title: string) =>
  title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/%[sij]|\\\$\\\{.*?\\\}|\\\$\w+/g, '.*');

const passes = ({ title, file }: { title: string; file: string }) =>
  exitsWith0(copy, ['node_modules/vitest/vitest.mjs', 'run', '--bail=1', file.slice(3), '-t', patternOf(title)]);

let survivors = 0;
let judged = 0;
for (const { attempt, line } of attempts) {
  if (words.length > 0 && !words.some((word) => attempt.includes(word))) continue;
  for (const test of testsIn(line)) {
    if (await passes(test)) continue;
    survivors += 1;
    console.log(`FAILS with all defences, alone: ${test.file}: ${test.title}`);
  }
  for (const { file, before, after } of defences[attempt] ?? []) {
    const path = join(copy, file);
    const original = readFileSync(path, 'utf8');
    if (original.split(before).length !== 2) throw new Error(`${file} should have this once: ${before}`);
    writeFileSync(
      path,
      original.replace(before, () => after),
    );
    let isKilled = false;
    for (const test of testsIn(line)) isKilled ||= !(await passes(test));
    writeFileSync(path, original);
    judged += 1;
    if (!isKilled) survivors += 1;
    console.log(`${isKilled ? 'killed  ' : 'SURVIVED'} ${file}: ${attempt}`);
  }
}
console.log(`${judged} defences were taken out. ${survivors} survived, or have a test that fails with all of them.`);
process.exit(survivors === 0 && judged > 0 ? 0 : 1);

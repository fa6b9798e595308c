import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { attempts, page, testsIn, text } from './attempts.ts';
import { defences } from './defences.ts';

const named = [
  ...new Map(attempts.flatMap(({ line }) => testsIn(line)).map((test) => [`${test.title} ${test.file}`, test])).values(),
];
const defended = attempts.filter(({ word }) => word !== 'leaves').map(({ attempt }) => attempt);

describe('the threat model', () => {
  it('has a line for each kind of attacker', () => {
    const attackers = text.split('\n').filter((line) => line.startsWith('## '));
    for (const word of ['stolen token', 'provider', 'owner', 'editor', 'administrator', 'viewer', 'CVM', 'gateway', 'operator']) {
      expect(attackers.join()).toContain(word);
    }
    expect(attempts.length).toBeGreaterThan(50);
  });

  it.each(attempts)('names a test: $attempt', ({ line }) => {
    expect(testsIn(line)).not.toEqual([]);
  });

  it('has a defence for all that it prevents and detects, which `npm run mutants:defences` takes out', () => {
    expect(Object.keys(defences).sort()).toEqual(defended.sort());
  });

  it.each(Object.entries(defences))('has a defence that stands in its file once: %s', (_, list) => {
    for (const { file, before } of list)
      expect(readFileSync(new URL(`../${file}`, page), 'utf8').split(before), file).toHaveLength(2);
  });

  it.each(named)('names a test that exists: $title', ({ title, file }) => {
    const place = new URL(file, page);
    expect(existsSync(place)).toBe(true);
    const source = readFileSync(place, 'utf8');
    const isTitle = ["'", '"', '`'].some((quote) => source.includes(`${quote}${title}${quote},`));
    expect(isTitle).toBe(true);
  });
});

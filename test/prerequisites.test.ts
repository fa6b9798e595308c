import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import description from '../package.json' with { type: 'json' };
import { demandPrerequisites, missingFor, prerequisites, type Machine } from './prerequisites.ts';

const root = join(import.meta.dirname, '..');
const complete: Machine = { platform: 'linux', isRoot: true, hasProgram: () => true, versionIn: () => '1.0.0' };

describe('the checks of test/prerequisites.json', () => {
  it('are all that take long or need more than Node, each by its npm script', () => {
    const called = prerequisites.flatMap(({ command }) => [...command.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name));
    expect(called.filter((name) => !(name !== undefined && name in description.scripts))).toEqual([]);
    expect(called).toEqual(
      expect.arrayContaining(['rehearse', 'rehearse:agent', 'check:disk', 'check:clients', 'check:readme', 'check:keys']),
    );
    expect(called).toEqual(expect.arrayContaining(['test:faults', 'test:full']));
  });

  it('are run by the weekly workflow, which takes them from the file', () => {
    const { on, jobs } = parse(readFileSync(join(root, '.github/workflows/weekly.yml'), 'utf8')) as {
      on: Record<string, unknown>;
      jobs: Record<'list' | 'check', { steps: { run?: string; env?: Record<string, string> }[] }>;
    };
    expect(Object.keys(on)).toEqual(['schedule', 'workflow_dispatch']);
    expect(jobs.list.steps.at(-1)?.run).toContain('test/prerequisites.json');
    expect(jobs.check.steps.at(-1)?.env).toEqual({ COMMAND: '${{ matrix.check.command }}' });
  });

  it('lack nothing on a machine that has everything', () => {
    for (const check of prerequisites) expect(missingFor(check, 'python3', complete)).toEqual([]);
  });
});

describe('a machine without what a check needs', () => {
  const missing = (name: string, lacks: Partial<Machine>) => {
    const check = prerequisites.find((each) => each.name === name);
    return check && missingFor(check, 'python3.9', { ...complete, ...lacks });
  };

  it('is told which Debian packages to install', () => {
    expect(missing('check:clients', { hasProgram: (program) => program === 'python3' })).toEqual([
      'check:clients needs the programs java, go. Install them, on Debian by: apt-get install default-jre-headless golang-go',
    ]);
  });

  it('is told how to install the Python packages, with their versions', () => {
    const [sentence] = missing('rehearse', { versionIn: (_, name) => (name === 'ministack' ? undefined : '1') }) ?? [];
    expect(sentence).toMatch(/^python3\.9 does not exist, or lacks the packages ministack\./);
    expect(sentence).toMatch(/bin\/pip install ministack==[\d.]+ cryptography==[\d.]+$/);
  });

  it('is told which platform and rights are needed', () => {
    expect(missing('check:disk', { platform: 'darwin', isRoot: false })).toEqual([
      'check:disk runs on linux only.',
      'check:disk needs the rights of root.',
    ]);
  });

  it('ends a check that it cannot run', () => {
    expect(() => demandPrerequisites('rehearse', '/nowhere/python')).toThrow(/^\/nowhere\/python does not exist, or lacks/);
    expect(() => demandPrerequisites('nothing')).toThrow('test/prerequisites.json has no check nothing.');
  });
});

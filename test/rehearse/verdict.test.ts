import { describe, expect, it } from 'vitest';
import { describeVerdict, judge } from './verdict.ts';

const known = [
  { title: / lacks a header$/, reason: 'It sends no such header.' },
  { title: / never seen$/, reason: 'It was fixed.' },
];

const results = {
  testResults: [
    {
      name: 'a.test.ts',
      assertionResults: [
        { status: 'passed', fullName: 'create answers 201', ancestorTitles: ['create'] },
        {
          status: 'failed',
          fullName: 'create lacks a header',
          ancestorTitles: ['create'],
          failureMessages: ['Error: none\n  at x'],
        },
        { status: 'failed', fullName: 'list lacks a header', ancestorTitles: ['list'], failureMessages: ['Error: none\n  at x'] },
        {
          status: 'failed',
          fullName: 'create answers 400',
          ancestorTitles: ['create'],
          failureMessages: ['Error: expected 500 to be 400\n  at x'],
        },
        { status: 'skipped', fullName: 'the domain may be odd', ancestorTitles: ['the domain'] },
      ],
    },
    { name: 'b.test.ts', message: 'Error: no such target', assertionResults: [] },
  ],
};

describe('judge', () => {
  const verdict = judge(results, known);

  it('counts expected failures by their reason, apart from other failures', () => {
    expect(verdict.passed).toBe(1);
    expect(verdict.impossible).toEqual(new Map([['It sends no such header.', 2]]));
    expect(verdict.failed).toContainEqual({ title: 'create answers 400', message: 'Error: expected 500 to be 400' });
    expect(verdict.notRun).toEqual(new Map([['the domain', 1]]));
  });

  it('counts a file that could not start as a failure', () => {
    expect(verdict.failed).toContainEqual({ title: 'b.test.ts', message: 'Error: no such target' });
  });

  it('lists the reasons for which no case failed', () => {
    expect(verdict.outdated).toEqual(['It was fixed.']);
  });
});

describe('describeVerdict', () => {
  it('begins with the counts', () => {
    expect(describeVerdict(judge(results, known))).toContain('1 passed, 2 failed, 2 impossible on the emulator, 1 not run');
  });
});

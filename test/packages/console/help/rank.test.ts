import { describe, expect, it } from 'vitest';
import { ranked, type Section } from '../../../../packages/console/help/rank.ts';

const section = (heading: string, text = ''): Section => ({ href: heading, heading, page: 'Page', text });
const sections = [
  section('Errors', 'How to sign in when the log is full.'),
  section('Signatures'),
  section('Approve and sign'),
  section('Read the log'),
];
const titles = (question: string) => ranked(sections, question).map(({ heading }) => heading);

describe('the search of the help', () => {
  it('shows first what has the words in its title, whole before begun, and then in its text', () => {
    expect(titles('sign')).toEqual(['Approve and sign', 'Signatures', 'Errors']);
  });

  it('takes a question for its telling words', () => {
    expect(titles('How do I read the log?')).toEqual(['Read the log']);
    expect(titles('the')).toEqual(['Read the log', 'Errors']);
  });

  it('finds nothing without words, and nothing that lacks one', () => {
    expect([titles(' ?'), titles('sign nowhere')]).toEqual([[], []]);
  });
});

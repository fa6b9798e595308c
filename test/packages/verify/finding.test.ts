import { describe, expect, it } from 'vitest';
import { fails, formatFindings, holds, quoted } from '../../../packages/verify/finding.ts';
import { parseJson } from '../../../packages/verify/evidence-files.ts';

describe('the output of the check', () => {
  it('has one line for each fact, and no control characters, whatever the evidence says', () => {
    const forged = 'k1\nHOLDS          All is well.\u2028HOLDS\u001b[2J\u001b[32m\u009b1A\r\u202e';
    expect(formatFindings([fails(`The key ${forged} is unknown.`), holds('It fits.')])).toBe(
      'DOES NOT HOLD  The key k1 HOLDS          All is well. HOLDS [2J [32m 1A   is unknown.\n' +
        'HOLDS          It fits.\n\n1 of 2 facts does not hold.\n',
    );
  });

  it('shows in a quoted text what is invisible or looks like a space', () => {
    expect(quoted('al ice\u3164\ufe0f\u00a0\u2800"')).toBe('"al ice\\u{3164}\\u{fe0f}\\u{a0}\\u{2800}\\""');
  });

  it('is made of files with a byte order mark too', () => {
    expect(parseJson('\ufeff{"a":1}', 'The evidence')).toEqual({ a: 1 });
  });

  it('has no control characters either where a file cannot be read', () => {
    expect(() => parseJson('\u001b[2J\nHOLDS', 'The evidence')).toThrow(/^The evidence is not JSON: [^\p{Cc}]*$/u);
  });
});

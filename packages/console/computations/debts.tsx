import type { Debt } from '../loading/overview.ts';
import { Names } from '../show/visible-texts.tsx';

/** What a party owes, in words. */
export function DebtText({ debt: { kind, files } }: { debt: Debt }) {
  if (kind === 'key') return 'public key';
  const what = kind === 'content' ? 'content of ' : files.length === 0 ? 'approval' : 'approval for ';
  return (
    <>
      {what}
      <Names of={files} />
    </>
  );
}

/** Returns what to do about something that no party in particular owes. */
export function neededText(sentence: string): string {
  return sentence === 'Missing algorithm' ? 'An algorithm: link one under Inputs' : sentence;
}

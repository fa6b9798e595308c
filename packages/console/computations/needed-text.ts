/** Returns what to do about something that no party in particular owes. */
export function neededText(sentence: string): string {
  return sentence === 'Missing algorithm' ? 'An algorithm: link one under Inputs' : sentence;
}

/** A section of a help page, or an entry of a list that begins with a bold title: its address, title, page and text. */
export type Section = Record<'href' | 'heading' | 'page' | 'text', string>;

const asking = new Set('a an and can do does for how i in is it my of on or the to what when where who why'.split(' '));

const wordsIn = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? [];

/** Returns the words of a question that a section must have. Words such as `how` count only where there are no others. */
export function askedWords(question: string): string[] {
  const words = wordsIn(question);
  const telling = words.filter((word) => !asking.has(word));
  return telling.length === 0 ? words : telling;
}

/** Returns the sections that have every word of a question: first those with the words in their titles, whole before begun. */
export function ranked(sections: readonly Section[], question: string): Section[] {
  const words = askedWords(question);
  if (words.length === 0) return [];
  const scored = sections.map((section) => {
    const title = wordsIn(section.heading);
    const text = section.text.toLowerCase();
    const scores = words.map((word) => {
      if (title.includes(word)) return 4;
      if (title.some((each) => each.startsWith(word))) return 3;
      return text.includes(word) ? 1 : 0;
    });
    return { section, score: scores.includes(0) ? 0 : scores.reduce<number>((sum, each) => sum + each, 0) };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ section }) => section);
}

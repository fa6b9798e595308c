import * as v from 'valibot';

/** Characters as JSON Schema counts them: Unicode code points. */
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/**
 * Text of a bounded number of characters (Unicode code points) that can be stored as it is: no lone surrogates, which
 * UTF-8 cannot hold.
 */
/*#__NO_SIDE_EFFECTS__*/
export function text(minimum: number, maximum: number) {
  return v.pipe(
    v.string(`Expected text of ${minimum} to ${maximum} characters.`),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const length = characters(dataset.value);
      if (length < minimum || length > maximum) {
        addIssue({ message: `Expected text of ${minimum} to ${maximum} characters, not ${length}.` });
      } else if (!dataset.value.isWellFormed()) {
        addIssue({ message: 'Expected well-formed Unicode without lone surrogates.' });
      }
    }),
    v.metadata({ minLength: minimum, maxLength: maximum }),
  );
}

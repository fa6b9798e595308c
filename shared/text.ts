import * as v from 'valibot';

/** Counts characters as JSON Schema does, in Unicode code points. */
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/**
 * Text of `minimum` to `maximum` characters (Unicode code points). Refuses lone surrogates, because UTF-8 cannot represent
 * them.
 */
/*#__NO_SIDE_EFFECTS__*/
export function text(minimum: number, maximum: number) {
  return v.pipe(
    v.string(`Expected a string of ${minimum} to ${maximum} characters.`),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const length = characters(dataset.value);
      if (length < minimum || length > maximum) {
        addIssue({ message: `Expected a string of ${minimum} to ${maximum} characters, not ${length}.` });
      } else if (!dataset.value.isWellFormed()) {
        addIssue({ message: 'Expected well-formed Unicode without lone surrogates.' });
      }
    }),
    v.metadata({ minLength: minimum, maxLength: maximum }),
  );
}

/** Text that the service returns. The maximum is only documented: what is stored was checked when it came. */
/*#__NO_SIDE_EFFECTS__*/
export function shownText(maximum: number) {
  return v.pipe(v.string(), v.metadata({ maxLength: maximum }));
}

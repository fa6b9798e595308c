const space = /[ \t\n\r]*/y;
const comma = /,/y;
const colon = /:/y;
const quote = /"/y;
const plainText = /[^"\\\u0000-\u001f]*/y;
const backslash = /\\/y;
const escaped = /["\\/bfnrt]/y;
const unicode = /u/y;
const hexDigit = /[0-9a-fA-F]/y;
const minus = /-/y;
const integer = /0|[1-9][0-9]*/y;
const point = /\./y;
const digits = /[0-9]+/y;
const exponent = /[eE][+-]?/y;

/**
 * Returns the offset of the first character that no JSON text has after the characters before it. It is the length of the text
 * if the text ends too early. JSON.parse gives no position for most errors.
 * @param text malformed JSON with few levels of nesting, because each level is a recursion
 */
export function malformedAt(text: string): number {
  let at = 0;
  /** Moves behind what the expression matches here. Returns whether it matches. */
  const take = (expression: RegExp): boolean => {
    expression.lastIndex = at;
    if (!expression.test(text)) return false;
    at = expression.lastIndex;
    return true;
  };
  const takeSpaced = (expression: RegExp): boolean => take(space) && take(expression);
  const takeWord = (word: string): boolean => Array.from(word).every((letter) => text[at] === letter && ++at > 0);
  const takeUnicode = (): boolean => take(unicode) && [1, 2, 3, 4].every(() => take(hexDigit));

  const takeString = (): boolean => {
    if (!takeSpaced(quote)) return false;
    while (take(plainText) && take(backslash)) if (!take(escaped) && !takeUnicode()) return false;
    return take(quote);
  };
  const takeNumber = (): boolean => {
    take(minus);
    if (!take(integer)) return false;
    if (take(point) && !take(digits)) return false;
    return !take(exponent) || take(digits);
  };
  const takeList = (takeEntry: () => boolean, end: RegExp): boolean => {
    if (takeSpaced(end)) return true;
    do if (!takeEntry()) return false;
    while (takeSpaced(comma));
    return take(end);
  };
  const takeMember = (): boolean => takeString() && takeSpaced(colon) && takeValue();
  const takeValue = (): boolean => {
    take(space);
    switch (text[at]) {
      case '{':
        at++;
        return takeList(takeMember, /\}/y);
      case '[':
        at++;
        return takeList(takeValue, /\]/y);
      case '"':
        return takeString();
      case 't':
        return takeWord('true');
      case 'f':
        return takeWord('false');
      case 'n':
        return takeWord('null');
      default:
        return takeNumber();
    }
  };
  if (takeValue()) take(space);
  return at;
}

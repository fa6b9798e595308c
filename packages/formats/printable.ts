const control = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Replaces control characters and line breaks, with which a text of somebody else could rewrite what a terminal shows. */
export function printable(text: string): string {
  return text.replace(control, ' ');
}

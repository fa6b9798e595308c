const control = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text of somebody else could rewrite what a terminal shows. */
export function printable(text: string): string {
  return text.replace(control, ' ');
}

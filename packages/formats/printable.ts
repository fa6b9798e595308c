const control = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Replaces control characters and line breaks in a text by spaces, so that a text of somebody else cannot rewrite what a terminal
 * shows.
 */
export const printable = (text: string): string => text.replace(control, ' ');

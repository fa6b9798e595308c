/** Ends a text with a full stop if it has none: details of broken connections come from Node. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** The text, or its first `most` UTF-16 code units and an ellipsis. Keeps responses and logs short, whatever a caller sends. */
export function truncate(text: string, most = 100): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}

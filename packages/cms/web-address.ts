/** Whether a text is an address that `fetch` can call: with https or http. */
export function isWebAddress(text: string): boolean {
  return URL.canParse(text) && ['https:', 'http:'].includes(new URL(text).protocol);
}

/** Returns the details of an event as text: `name: value` for each field of an object but `without`, else what they are. */
export function detailsText(base64: string, { without }: { without?: string } = {}): string {
  const text = decoded(base64);
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return text;
    return Object.entries(parsed)
      .filter(([name]) => name !== without)
      .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(', ');
  } catch {
    return text;
  }
}

/** Bytes that are no UTF-8 stay as they came: an agent may send any. */
function decoded(base64: string): string {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return base64;
  }
}

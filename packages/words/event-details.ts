/** A field in the details of an event, as text. */
export interface DetailField {
  /** The name of the field with spaces, such as `file name`. Empty if the details of the event are no object. */
  name: string;
  value: string;
}

/**
 * Returns the fields in the details of an event, base64 in the API. Details that are no object are one field without a name; what is neither
 * base64 nor UTF-8 stays as it came, because an agent may send any.
 * @param hidden the names of fields to leave out
 */
export function detailFields(base64: string, hidden: readonly string[] = []): DetailField[] {
  const text = decoded(base64);
  const whole = text === '' ? [] : [{ name: '', value: text }];
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return whole;
    return Object.entries(parsed)
      .filter(([name]) => !hidden.includes(name))
      .map(([name, value]) => ({ name: name.replaceAll('_', ' '), value: valueText(value) }));
  } catch {
    return whole;
  }
}

/** Formats fields of an event's details as a list, such as `file name: a.csv, use: open`. */
export function fieldsText(fields: readonly DetailField[]): string {
  return fields.map(({ name, value }) => (name === '' ? value : `${name}: ${value}`)).join(', ');
}

/** Formats the value of a field in an event's details. A sentence loses its full stop, because it stands in a list. */
function valueText(value: unknown): string {
  if (Array.isArray(value) && value.every((entry) => /^\w+$/.test(String(entry)))) return value.join(', ');
  return typeof value === 'string' ? value.replace(/\.$/, '') : JSON.stringify(value);
}

function decoded(base64: string): string {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return base64;
  }
}

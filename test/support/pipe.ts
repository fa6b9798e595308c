type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type StreamRecord = { [name: string]: Json };

/**
 * Says whether an event pattern of EventBridge selects a value. Knows what the service's filter uses, and throws for anything else:
 * texts, `prefix` and `exists`.
 */
export function isSelected(pattern: unknown, value: Json | undefined): boolean {
  if (Array.isArray(pattern)) return pattern.some((condition) => meets(condition, value));
  if (typeof pattern !== 'object' || pattern === null) throw new TypeError(`${String(pattern)} is no event pattern.`);
  return Object.entries(pattern).every(([name, inner]) => isSelected(inner, fieldOf(value, name)));
}

function meets(condition: unknown, value: Json | undefined): boolean {
  if (typeof condition === 'string') return value === condition;
  const [[kind, wanted] = [], ...more] = Object.entries(condition as object);
  if (more.length > 0) throw new TypeError('A condition has one kind.');
  if (kind === 'prefix') return typeof value === 'string' && value.startsWith(String(wanted));
  if (kind === 'exists') return (value !== undefined) === wanted;
  throw new TypeError(`This test does not know the condition ${String(kind)}.`);
}

/**
 * Fills the input template of a pipe in, as EventBridge does for variables without quotes: with the JSON of their values.
 * @throws TypeError for a variable without a value, which would leave the JSON invalid
 */
export function filledIn(template: string, record: StreamRecord): unknown {
  const text = template.replaceAll(/<\$\.([\w.]+)>/g, (variable, path: string) => {
    const value = path.split('.').reduce<Json | undefined>(fieldOf, record);
    if (value === undefined) throw new TypeError(`${variable} has no value.`);
    return JSON.stringify(value);
  });
  return JSON.parse(text);
}

function fieldOf(value: Json | undefined, name: string): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value[name] : undefined;
}

type Attributes = Record<string, object>;

/** Returns the record that DynamoDB writes to a stream with new images when this item, as the SDK reads it, is stored. */
export function streamRecord(item: Attributes, eventName: 'INSERT' | 'MODIFY' | 'REMOVE' = 'INSERT'): StreamRecord {
  const image = plain(item) as { [name: string]: Json };
  const { pk = null, sk = null } = image;
  const NewImage = eventName === 'REMOVE' ? {} : { NewImage: image };
  return {
    eventID: 'a1b2',
    eventName,
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: 'eu-central-1',
    dynamodb: { Keys: { pk, sk }, ...NewImage, SequenceNumber: '100', SizeBytes: 100, StreamViewType: 'NEW_IMAGE' },
  };
}

/** Converts bytes to base64, as DynamoDB's JSON has them. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]));
}

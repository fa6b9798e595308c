import * as v from 'valibot';

/** An object with any names as keys. Unlike `v.record`, it keeps those of members of every object, such as `constructor`. */
export function recordOf<Key extends v.GenericSchema<string>, Value extends v.GenericSchema>(
  key: Key,
  value: Value,
  message: string,
) {
  return v.pipe(
    v.custom<Record<string, unknown>>((given) => typeof given === 'object' && given !== null && !Array.isArray(given), message),
    v.transform((given) => new Map(Object.entries(given))),
    v.map(key, value),
    v.transform((map): Record<string, v.InferOutput<Value>> => Object.fromEntries(map)),
  );
}

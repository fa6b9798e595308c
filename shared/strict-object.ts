import * as v from 'valibot';

/** An object without unknown fields. Refuses arrays, as JSON Schema does; `v.strictObject` accepts them. */
/*#__NO_SIDE_EFFECTS__*/
export function strictObject<const Entries extends v.ObjectEntries>(entries: Entries): v.StrictObjectSchema<Entries, undefined> {
  const schema = v.strictObject(entries);
  return {
    ...schema,
    '~run': (dataset, config) => schema['~run'](Array.isArray(dataset.value) ? { ...dataset, value: null } : dataset, config),
  };
}

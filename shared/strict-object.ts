import * as v from 'valibot';

/** An object with these fields and no others, as JSON Schema understands it: a list is none, which `v.strictObject` takes for one. */
/*#__NO_SIDE_EFFECTS__*/
export function strictObject<const Entries extends v.ObjectEntries>(entries: Entries): v.StrictObjectSchema<Entries, undefined> {
  const schema = v.strictObject(entries);
  return {
    ...schema,
    '~run': (dataset, config) => schema['~run'](Array.isArray(dataset.value) ? { ...dataset, value: null } : dataset, config),
  };
}

import * as v from 'valibot';

/** A body of megabytes may have a million unknown fields. An error names no more than these. */
const mostNamed = 20;

/**
 * An object without unknown fields. Refuses arrays, as JSON Schema does, and names all unknown fields; `v.strictObject` accepts
 * arrays, and names only the first unknown field.
 */
/*#__NO_SIDE_EFFECTS__*/
export function strictObject<const Entries extends v.ObjectEntries>(entries: Entries): v.StrictObjectSchema<Entries, undefined> {
  const schema = v.strictObject(entries);
  return {
    ...schema,
    '~run': (dataset, config) => {
      const result = schema['~run'](Array.isArray(dataset.value) ? { ...dataset, value: null } : dataset, config);
      const first = result.issues?.find(({ expected, path }) => expected === 'never' && path?.length === 1);
      const item = first?.path?.[0];
      if (!first || item?.type !== 'object' || !result.issues) return result;
      let named = 1;
      for (const key in item.input) {
        if (key === item.key || Object.hasOwn(entries, key)) continue;
        if (named++ === mostNamed) break;
        result.issues.push({ ...first, input: key, received: `"${key}"`, path: [{ ...item, key, value: item.input[key] }] });
      }
      return result;
    },
  };
}

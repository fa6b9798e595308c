/**
 * A value in the storage of this tab. It survives a reload and a redirect, and ends with the tab. Other tabs do not see it, so each
 * may have its own user.
 */
export interface Stored<Value> {
  read: () => Value | undefined;
  write: (value: Value) => void;
  remove: () => void;
}

/** The parser returns undefined for what an earlier version of the console stored differently. */
export function stored<Value>(name: string, parse: (content: unknown) => Value | undefined): Stored<Value> {
  const key = `console.${name}`;
  return {
    read: () => {
      const text = sessionStorage.getItem(key);
      if (text === null) return undefined;
      try {
        return parse(JSON.parse(text));
      } catch {
        return undefined;
      }
    },
    write: (value) => sessionStorage.setItem(key, JSON.stringify(value)),
    remove: () => sessionStorage.removeItem(key),
  };
}

/** Whether the content is an object with a string in each of these fields. */
export function hasTexts<Name extends string>(content: unknown, names: readonly Name[]): content is Record<Name, string> {
  if (typeof content !== 'object' || content === null) return false;
  const fields = content as Record<string, unknown>;
  return names.every((name) => typeof fields[name] === 'string');
}

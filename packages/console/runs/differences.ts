import { toHex } from 'computation-management-formats/bytes';
import { fingerprintOf } from '../show/fingerprint.ts';

export interface Difference {
  path: string;
  /** Undefined: it had none. */
  then: string | undefined;
  now: string | undefined;
}

/** Returns each value that two documents do not share. Datasets are matched by their file name, hashes are in hexadecimal. */
export function differencesOf(then: object, now: object): Difference[] {
  const [before, after] = [valuesOf(then), valuesOf(now)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((path) => {
    const [one, other] = [before.get(path), after.get(path)];
    return one === other ? [] : [{ path, then: one, now: other }];
  });
}

function valuesOf(document: object): Map<string, string> {
  const values = new Map<string, string>();
  const walk = (value: unknown, path: string) => {
    if (Array.isArray(value) && value.length === 32 && value.every((byte) => typeof byte === 'number')) {
      values.set(path, toHex(value));
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        if (name === 'filename') continue; // it is in the path
        if (name === 'user_key') {
          values.set(`${path} key`, fingerprintOf(String(member)));
          continue;
        }
        const named = (member as { filename?: string } | null)?.filename;
        walk(
          member,
          [path, Array.isArray(value) ? (named === undefined ? Number(name) + 1 : JSON.stringify(named)) : name]
            .filter((part) => part !== '')
            .join(' '),
        );
      }
    } else values.set(path, typeof value === 'string' && value !== '' ? value : JSON.stringify(value));
  };
  walk(document, '');
  return values;
}

import * as v from 'valibot';
import { holdsPrivateKey } from './holds-private-key.ts';
import { isReservedName } from './vocabulary.ts';

/** Returns the length of a text in Unicode code points, as JSON Schema counts it. */
export function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/**
 * Makes the schema of a text that a client sends, of `minimum` to `maximum` Unicode code points. Refuses lone surrogates, because
 * UTF-8 cannot represent them.
 */
/*#__NO_SIDE_EFFECTS__*/
export function text(minimum: number, maximum: number) {
  return v.pipe(
    v.string(`Expected a string of ${minimum} to ${maximum} characters.`),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const length = characters(dataset.value);
      if (length < minimum || length > maximum) {
        addIssue({ message: `Expected a string of ${minimum} to ${maximum} characters, not ${length}.` });
      } else if (!dataset.value.isWellFormed()) {
        addIssue({ message: 'Expected well-formed Unicode without lone surrogates.' });
      }
    }),
    v.metadata({ minLength: minimum, maxLength: maximum }),
  );
}

/**
 * Makes the schema of a text that the service returns. The maximum length is only documented, not checked: stored texts were
 * checked when they came.
 */
/*#__NO_SIDE_EFFECTS__*/
export function shownText(maximum: number, description?: string) {
  return v.pipe(v.string(), v.metadata({ maxLength: maximum, ...(description !== undefined && { description }) }));
}

/** Makes the schema of a value with a description for the OpenAPI document. */
/*#__NO_SIDE_EFFECTS__*/
export function described<const Schema extends v.GenericSchema>(schema: Schema, description: string) {
  return v.pipe(schema, v.description(description));
}

/** Makes the schema of a value or null. @param description says what null means */
/*#__NO_SIDE_EFFECTS__*/
export function orNull<const Schema extends v.GenericSchema>(schema: Schema, description: string) {
  return v.pipe(v.nullable(schema), v.description(description));
}

/** Makes the schema of an array that the service returns. The most entries are only documented, not checked. */
/*#__NO_SIDE_EFFECTS__*/
export function arrayOf<const Entry extends v.GenericSchema>(entry: Entry, most: number, description: string) {
  return v.pipe(v.array(entry), v.description(description), v.metadata({ maxItems: most }));
}

/** Makes the schema of an object that the service returns. @param title its name in the OpenAPI document */
/*#__NO_SIDE_EFFECTS__*/
export function namedObject<const Entries extends v.ObjectEntries>(title: string, description: string, entries: Entries) {
  return v.pipe(v.object(entries), v.title(title), v.description(description));
}

/** Makes the schema of an object without unknown fields that a client sends. @param title its name in the OpenAPI document */
/*#__NO_SIDE_EFFECTS__*/
export function namedInput<const Entries extends v.ObjectEntries>(title: string, description: string, entries: Entries) {
  return v.pipe(strictObject(entries), v.title(title), v.description(description));
}

export const privateKeyForAll = 'This contains a private key, which everyone in the domain would see. Never share it.';
/** A check that refuses texts with a private key. For texts that everyone in the domain reads. */
export const withoutPrivateKey = v.check((given: string) => !holdsPrivateKey(given), privateKeyForAll);

export const description = v.pipe(text(0, 4000), withoutPrivateKey, v.description('A description. Up to 4,000 characters.'));
export const shownDescription = shownText(4000, 'The description.');

/** Returns whether a text has the form of base64 (RFC 4648, section 4, with padding). */
export function isBase64(text: string): boolean {
  // Without a repeated group, which would overflow the stack of the expression on megabytes of text.
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

/**
 * The schema of a text in base64. Used in place of `v.base64`, which ignores the case of letters in Unicode, and so takes some
 * characters that base64 does not have.
 */
export const base64Text = v.pipe(v.string(), v.check(isBase64, 'Expected base64.'), v.metadata({ contentEncoding: 'base64' }));

/** The most unknown fields of an object that an error names, because a body of megabytes may have a million of them. */
const mostNamed = 20;

/**
 * Makes the schema of an object without unknown fields. It refuses arrays, as JSON Schema does, and names all unknown fields (up
 * to 20), unlike `v.strictObject`.
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

/** The schema of a field that a PUT accepts and ignores, so that clients can send back an object that they read. */
export const returnedField = v.optional(described(v.unknown(), 'Ignored. The service sets this field.'));

/**
 * Matches a text with a character that can be seen: not white space, a control, a mark that needs a letter before it, or a
 * character that is drawn as nothing.
 */
const visible = /[^\p{Z}\p{Cc}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u;
const hasVisible = v.check((name: string) => visible.test(name), 'Expected at least one visible character.');

export const computationName = v.pipe(
  text(1, 200),
  v.regex(/^[^\u0000-\u001f\u007f-\u009f]+$/, 'Expected a name without line ends and other control characters.'),
  hasVisible,
  withoutPrivateKey,
  v.description('The name. 1 to 200 characters, at least one of them visible, no control characters.'),
  v.examples(['Average income by region']),
);

/** The most characters of the reason of a refusal. */
export const longestRefusal = 1_000;

/** The schema of the reason that a user gives for a refusal to approve. Everyone in the domain reads it. */
export const refusalReason = v.pipe(
  text(1, longestRefusal),
  hasVisible,
  withoutPrivateKey,
  v.description('Why you refuse, in your words. 1 to 1,000 characters, at least one of them visible.'),
  v.examples(['The data may not leave the hospital before the ethics board has met.']),
);

/** The longest identifier of a user (`sub`), in bytes of UTF-8 (OpenID Connect Core 1.0, section 2). */
export const longestUserIdInBytes = 255;

/** The schema of the identifier of any user whom a token may name, also a reserved or a blank one. */
export const anyUserId = v.pipe(
  text(1, 255),
  v.check((user) => new TextEncoder().encode(user).length <= longestUserIdInBytes, 'Expected at most 255 bytes in UTF-8.'),
);

/** The schema of the identifier of a user whom a request names: not blank, not reserved, and no private key. */
export const userId = v.pipe(
  anyUserId,
  v.regex(/^\S([\s\S]*\S)?$/, 'Expected a user without white space at the beginning and the end.'),
  withoutPrivateKey,
  v.check((user) => !isReservedName(user), 'Expected a user. This name is reserved for the events of the service and of agents.'),
);

/** The longest file name of an asset, in bytes of UTF-8. No file system takes a longer one. */
const longestFileNameInBytes = 255;

/** The schema of an asset's file name: a plain name without a path, because the agent uses it in a path of its own. */
export const fileName = v.pipe(
  text(1, 255),
  v.regex(
    /^(?!\.{1,2}$)[^/\\\u0000-\u001f\u007f-\u009f]+$/,
    'Expected a file name without slashes or control characters. The names . and .. are not allowed.',
  ),
  hasVisible,
  withoutPrivateKey,
  v.check((name) => new TextEncoder().encode(name).length <= longestFileNameInBytes, 'Expected at most 255 bytes in UTF-8.'),
  v.description(
    'The name of the file, without a path. At most 255 bytes in UTF-8, at least one visible character. The datasets of a computation have different names.',
  ),
  v.examples(['titanic.csv']),
);

export const mimeType = v.pipe(
  text(0, 255),
  v.regex(/^(?:[\w.+-]+\/[\w.+-]+(?:\s*;\s*[\w.+-]+=(?:[\w.+-]+|"[^"\\\r\n]*"))*)?$/, 'Expected a media type such as text/csv.'),
  withoutPrivateKey,
  v.description('The media type of the content. Empty if it is not known.'),
  v.examples(['text/csv']),
);

const limitInBytes = 16 * 1024;
/** The schema of a certificate in the agent's configuration: a text in PEM, or a path inside the CVM. */
export const certificate = v.pipe(
  text(0, limitInBytes),
  v.check((value) => new TextEncoder().encode(value).length <= limitInBytes, 'Expected at most 16 KiB in UTF-8.'),
);

import * as v from 'valibot';
import { text } from './fields.ts';
import { isReservedName } from './vocabulary.ts';

export const computationName = v.pipe(
  text(1, 200),
  v.description('The name. 1 to 200 characters.'),
  v.examples(['Average income by region']),
);

export const userId = v.pipe(
  text(1, 255),
  v.check((user) => !isReservedName(user), 'Expected a user. This name is reserved for the events of the service and of agents.'),
);

/** A plain name, because the agent uses it in a path. */
export const fileName = v.pipe(
  text(1, 255),
  v.regex(
    /^(?!\.{1,2}$)[^/\\\u0000-\u001f\u007f-\u009f]+$/,
    'Expected a file name without slashes or control characters. The names . and .. are not allowed.',
  ),
  v.description('The name of the file, without a path. The datasets of a computation have different names.'),
  v.examples(['titanic.csv']),
);

export const mimeType = v.pipe(
  text(0, 255),
  v.regex(/^(?:[\w.+-]+\/[\w.+-]+(?:\s*;\s*[\w.+-]+=(?:[\w.+-]+|"[^"\\\r\n]*"))*)?$/, 'Expected a media type such as text/csv.'),
  v.description('The media type of the content. Empty if it is not known.'),
  v.examples(['text/csv']),
);

const limitInBytes = 16 * 1024;
/** A certificate or a key of an agent: PEM text, or a path inside the CVM. */
export const certificate = v.pipe(
  text(0, limitInBytes),
  v.check((value) => Buffer.byteLength(value) <= limitInBytes, 'Expected at most 16 KiB in UTF-8.'),
);

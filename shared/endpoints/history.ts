import * as v from 'valibot';
import type { Route } from '../http/route.ts';
import { readsLog } from '../runtime/uses.ts';

const longestCheckpoint = 16 * 1024;
/** The longest base64 of a bundle of 256 entries, each with 64 bytes and a length of two bytes. */
const longestTile = 22_528;

/** The schema of the path of a tile or a bundle of entries, below `tile/` (C2SP tlog-tiles). */
export const tilePath = v.pipe(
  v.string(),
  v.regex(
    /^(?:[0-9]|[1-5][0-9]|6[0-3]|entries)\/(?:x[0-9]{3}\/){0,5}[0-9]{3}(?:\.p\/[1-9][0-9]{0,2})?$/,
    'Expected a path of a tile, such as `0/x001/067.p/8` or `entries/000`.',
  ),
  v.metadata({ maxLength: 40 }),
);

export const getCheckpointRoute = {
  name: 'history/get-checkpoint',
  method: 'GET',
  path: '/log/checkpoint',
  summary: 'Get the checkpoint of the log',
  uses: { log: readsLog.log },
  impact: 'Parties cannot check that everyone is shown the same history.',
  media: { type: 'text/plain' },
  response: v.pipe(v.string(), v.description('A signed checkpoint.'), v.metadata({ maxLength: longestCheckpoint })),
  description:
    "Returns the newest signed checkpoint of the stage's append-only log, as a signed note (C2SP tlog-checkpoint), with the cosignatures of " +
    'witnesses. The log has an entry for the start and the end of each run, and for a reviewed result. Compare what you got with what other parties got.',
} as const satisfies Route;

export const getTileRoute = {
  name: 'history/get-tile',
  method: 'GET',
  path: '/log/tile/{tile+}',
  summary: 'Get a tile of the log',
  uses: { log: readsLog.log },
  impact: 'Parties cannot check that everyone is shown the same history.',
  media: { type: 'application/octet-stream', isBinary: true },
  response: v.pipe(
    v.string(),
    v.description('The hashes of a tile, or the entries of a bundle.'),
    v.metadata({ format: 'binary', maxLength: longestTile }),
  ),
  errors: ['not_found'],
  description:
    "Returns a tile of hashes of the stage's append-only log, or a bundle of its entries (C2SP tlog-tiles). The path has slashes, such as " +
    '`0/x001/067.p/8` or `entries/000`. What is stored under a path never changes.',
} as const satisfies Route;

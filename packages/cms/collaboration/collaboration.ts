import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { certificate, computationName, description, fileName, mimeType, userId } from 'computation-management-formats/fields';
import { attestationPolicyInput } from 'computation-management-formats/attestation';
import { holdsPrivateKey } from 'computation-management-formats/holds-private-key';
import { fetched, misfits, sourceTypeOf } from 'computation-management-formats/source';
import { printable } from 'computation-management-formats/printable';
import { resultReviewInput } from 'computation-management-formats/consent';
import {
  approvalLevels,
  assetTypes,
  logAccesses,
  logLevels,
  mostConsumers,
  mostProviders,
} from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { type Document, isMap, isNode, isPair, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { shellWord, userText } from 'computation-management-words';
import { recordOf } from '../profile/profile.ts';
import { UsageError } from '../terminal/cms-error.ts';
import { filesBeside, isMissing, whyUnreadable } from '../files/read-file.ts';

const sha3 = v.pipe(
  v.string('Expected a SHA3-256 in quotes.'),
  v.regex(/^[0-9a-fA-F]{64}$/, 'Expected 64 hex digits.'),
  v.toLowerCase(),
);
const path = v.pipe(v.string('Expected a path.'), v.nonEmpty('Expected a path.'));

/**
 * The place from which the agent fetches a file, or the key of a file that a party sends encrypted. The type of the place follows from the
 * scheme of the URL.
 */
const source = v.pipe(
  v.strictObject({
    url: v.exactOptional(v.string('Expected an address.')),
    kbs_resource_path: v.exactOptional(v.string('Expected a path.')),
  }),
  v.transform((given) => (given.url === undefined ? given : { ...given, type: sourceTypeOf(given.url) ?? 'https' })),
  fetched.source,
);

const assetFields = v.strictObject({
  /** The path of the file to upload as the content of an asset. Without a path, the agent fetches the content from `source`. */
  file: v.exactOptional(path),
  source: v.exactOptional(source),
  checksum: v.exactOptional(sha3),
  kbs: v.exactOptional(fetched.kbs),
  decompress: v.exactOptional(fetched.decompress),
  algo_type: v.exactOptional(fetched.algo_type),
  algo_args: v.exactOptional(fetched.algo_args),
  type: v.picklist(assetTypes, 'Expected algorithm or dataset.'),
  /** The name of an asset in the manifest. Default: the name of the file. */
  name: v.exactOptional(fileName),
  description: v.exactOptional(description),
  mime_type: v.exactOptional(mimeType),
  use: v.exactOptional(v.picklist(['open', 'approval'], 'Expected open or approval.')),
  content_access: v.exactOptional(v.picklist(['creator', 'domain'], 'Expected creator or domain.')),
});
const asset = v.pipe(
  assetFields,
  v.check(
    ({ file, source, checksum }) =>
      (file === undefined) !== (source === undefined) && (source === undefined) === (checksum === undefined),
    'Expected file to upload one, or source and checksum for a file that the agent fetches or decrypts.',
  ),
  v.rawCheck(({ dataset: { typed, value }, addIssue }) => {
    if (!typed) return;
    const { source = null, kbs = null, decompress = null, algo_type = null, algo_args = null, type: asset_type } = value;
    for (const { field, expected } of misfits({ asset_type, source, kbs, decompress, algo_type, algo_args })) {
      addIssue({ message: expected, path: [{ type: 'object', origin: 'value', input: value, key: field, value: value[field] }] });
    }
  }),
  v.forward(
    v.check(
      (given) => given.name !== undefined || v.is(fileName, nameOf(given)),
      'The name of this file is not allowed. Add another one as name.',
    ),
    ['file'],
  ),
);
/** Returns the name of a planned asset in the manifest: the given one, or that of the file or of the URL. */
export function nameOf({ name, file, source }: v.InferOutput<typeof assetFields>): string {
  return name ?? basename(file ?? source?.url ?? '');
}
/** An asset of a party in the file of `cms init`. */
export type PlannedAsset = v.InferOutput<typeof asset>;

const party = v.strictObject({
  /** The path of the party's public key. */
  key: v.exactOptional(path),
  assets: v.optional(v.array(asset, 'Expected a list of assets.'), []),
});
/** A party in the file of `cms init`: its key and its assets. */
export type Party = v.InferOutput<typeof party>;

const certificates = v.pipe(
  certificate,
  v.check((text) => !holdsPrivateKey(text), 'This contains a private key, which every reader would see. Put it in server_key.'),
);

const agentConfig = v.strictObject({
  log_level: v.exactOptional(v.picklist(['', ...logLevels], 'Expected debug, info, warn or error.')),
  attested_tls: v.exactOptional(v.boolean('Expected true or false.')),
  /** The certificate of the agent: PEM text, or a path inside the CVM. */
  cert_file: v.exactOptional(certificates),
  server_ca_file: v.exactOptional(certificates),
  client_ca_file: v.exactOptional(certificates),
  server_key: v.exactOptional(certificate),
});

function users(most: number) {
  return v.pipe(v.array(userId, 'Expected a list of users.'), v.maxLength(most, `Expected up to ${most} users.`));
}

const computation = v.strictObject({
  /** The identifier of the computation. Needed only if the owner has several computations of this name. */
  id: v.exactOptional(v.pipe(v.string(), v.uuid('Expected the identifier of a computation, a UUID.'))),
  name: computationName,
  description: v.exactOptional(description),
  owner: userId,
  approval: v.exactOptional(v.picklist(approvalLevels, 'Expected none, all or all_signed.')),
  log_access: v.exactOptional(v.picklist(logAccesses, 'Expected none or parties.')),
  consumers: v.exactOptional(users(mostConsumers)),
  providers: v.exactOptional(users(mostProviders)),
  attestation_policy: v.exactOptional(v.nullable(attestationPolicyInput)),
  result_review: v.exactOptional(v.nullable(resultReviewInput)),
  agent_config: v.exactOptional(agentConfig),
});

/** The file of `cms init`: a computation and what each party brings. Each party runs `cms init` with the same file. */
const collaborationSchema = v.strictObject({
  computation,
  parties: recordOf(userId, v.nullable(party), 'Expected parties by user.'),
});
/** The content of the file of `cms init`. */
export type Collaboration = v.InferOutput<typeof collaborationSchema>;

/** The name that the guide gives the file of `cms init`. */
export const usualCollaboration = 'collaboration.yaml';

/** Reads the file of `cms init`. @throws CmsError that names each mistake in the file with its line */
export async function readCollaboration(file: string): Promise<Collaboration> {
  const content = await readFile(file).catch((error: unknown) => {
    const message = whyUnreadable(file, error);
    throw new UsageError(message, isMissing(error) ? `cms init --example > ${shellWord(file)}` : filesBeside(file));
  });
  if (isUtf8(content)) return parseCollaboration(new TextDecoder().decode(content), file);
  const isUtf16 = /^(?:\xff\xfe|\xfe\xff)/.test(content.toString('latin1', 0, 2));
  const lines = content.toString('latin1').split('\n');
  const line = lines.findIndex((each) => !isUtf8(Buffer.from(each, 'latin1'))) + 1;
  const seems = isUtf16 ? 'UTF-16' : 'Latin-1 (ISO 8859-1 or Windows-1252)';
  throw new UsageError(`${file}:${line}:1: This is not UTF-8. The file seems to be in ${seems}. Save it as UTF-8.`);
}

/** Parses the text of a file of `cms init`. @throws CmsError that names each mistake in the text with its line */
export function parseCollaboration(text: string, file: string): Collaboration {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const placeOf = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  // One slip of YAML makes many mistakes behind it.
  const [slip] = document.errors;
  if (slip) refuse([`${placeOf(slip.pos[0])}: This is not YAML: ${slip.message.replace(/\.?$/, '.')}`]);
  const mistakes = document.warnings.map(({ pos, message }) => `${placeOf(pos[0])}: ${message}`);
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document)) return;
      mistakes.push(`${placeOf(alias.range?.[0] ?? 0)}: A text that begins with * needs quotes.`);
    },
    Map: (_, { items }) => {
      const keys = new Set<string>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (typeof key.value !== 'string') key.value = key.source ?? ''; // a number has lost digits
        const name = String(key.value);
        const place = placeOf(key.range?.[0] ?? 0);
        if (name === '<<') mistakes.push(`${place}: Merge keys (<<) are not supported. Write the fields out.`);
        if (keys.has(name)) mistakes.push(`${place}: ${name} occurs twice.`);
        keys.add(name);
      }
    },
  });
  refuse(mistakes);
  const parsed = v.safeParse(collaborationSchema, contentOf(document, file));
  if (!parsed.success) {
    const mistakes = parsed.issues.map((issue) => {
      const path = issue.path?.map(({ key }) => key) ?? [];
      const field = path.length === 0 ? '' : `${path.join('.')}: `;
      return { offset: offsetOf(document, path), sentence: `${field}${describe(issue)}` };
    });
    mistakes.sort((one, other) => one.offset - other.offset);
    refuse(mistakes.map(({ offset, sentence }) => `${placeOf(offset)}: ${sentence}`));
    throw new TypeError('An invalid file has at least one mistake.');
  }
  refuse(conflictsIn(parsed.output).map(({ path, problem }) => `${placeOf(offsetOf(document, path))}: ${problem}`));
  return parsed.output;
}

/** Returns the values of the YAML document in a file of `cms init`. @throws CmsError for a document whose aliases expand too far */
function contentOf(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (cause) {
    throw new UsageError(`${file}: It repeats itself too often.`, undefined, cause);
  }
}

function refuse(mistakes: string[]): void {
  if (mistakes.length > 0) throw new UsageError(mistakes.map(printable).join('\n'), 'cms init --example');
}

/** Returns the mistake that a schema found in a value of a file, in a sentence. */
export function describe({ type, kind, input, received, expected, message, path }: v.BaseIssue<unknown>): string {
  if (kind === 'schema' && type === 'strict_object' && expected === 'never') {
    return `Unknown field ${String(path?.at(-1)?.key)}.`;
  }
  if (received === 'undefined') return 'A value is required.';
  if (type === 'string' && ['number', 'bigint', 'boolean'].includes(typeof input)) return 'Expected a text: write it in quotes.';
  if (path === undefined) return 'Expected the fields computation and parties.';
  return message.startsWith('Invalid') ? `${message.replace(/^Invalid \w+: /, '')}.` : message;
}

/**
 * Returns the offset in the file of `cms init` at which a value begins. For a missing value, the offset of the innermost value around it.
 */
function offsetOf(document: Document, path: unknown[]): number {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const inner = path.slice(0, depth);
    const parent = document.getIn(inner.slice(0, -1), true);
    const key: unknown = inner.at(-1);
    if (isMap(parent)) {
      const pair = parent.items.find((item) => isPair(item) && String(item.key) === String(key));
      if (pair && isNode(pair.key) && pair.key.range) return pair.key.range[0];
    }
    const node = document.getIn(inner, true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return document.contents?.range?.[0] ?? 0;
}

/**
 * Finds what contradicts itself in the file of `cms init`: a second algorithm, two datasets of one name and a reviewer who gets the result,
 * which the service would refuse, and a party that is named as another user is, but for the case of letters.
 */
function conflictsIn({ computation, parties }: Collaboration): { path: unknown[]; problem: string }[] {
  const conflicts: { path: unknown[]; problem: string }[] = [];
  const add = (path: unknown[], text: string) => conflicts.push({ path, problem: `${path.join('.')}: ${text}` });
  const { owner, consumers = [], providers = [], result_review } = computation;
  const reviewers = result_review?.reviewers ?? [];
  const users = [owner, ...consumers, ...providers, ...reviewers];
  const place = ['computation', 'result_review'];
  if (result_review && consumers.length === 0) add(place, 'The consumers of a reviewed result are named. Add consumers.');
  for (const [index, user] of reviewers.entries()) {
    if (user !== owner && !consumers.includes(user)) continue;
    add([...place, 'reviewers', index], `${userText(user)} gets the result, and cannot review it.`);
  }
  for (const party of Object.keys(parties)) {
    const other = users.find((each) => each.toLowerCase() === party.toLowerCase());
    if (other === undefined || users.includes(party) || Object.hasOwn(parties, other)) continue;
    add(['parties', party], `The computation names ${JSON.stringify(other)}. Users differ by the case of letters.`);
  }
  const names = new Map<string, string>();
  for (const [user, party] of Object.entries(parties)) {
    for (const [index, planned] of (party?.assets ?? []).entries()) {
      const taken = planned.type === 'algorithm' ? 'the algorithm' : `the dataset ${nameOf(planned)}`;
      const first = names.get(taken);
      if (first === undefined) names.set(taken, user);
      else add(['parties', user, 'assets', index], `${first} already brings ${taken}.`);
    }
  }
  return conflicts;
}

/** The example of a collaboration that `cms init --example` prints. */
export const exampleCollaboration = `# A computation and what each party brings. Every party runs: cms init FILE.yaml
# Paths are relative to this file, and stay in its folder. A user is what "cms whoami" prints: a name, or on some stages an identifier.
computation:
  name: Body mass by species
  description: Mean body mass of penguins by species and island
  owner: alice
  # Whose approval a run needs: none, all, or all_signed
  approval: all_signed
  # Who gets the results in addition to the owner. Without this line: every user with the role result_consumer who uploads a key
  consumers: [alice]
  # Who may link their own assets, beside the owner and administrators. Without this line: every user who provides assets
  providers: [bob]
  # Who decides whether a result leaves the machine, and how many of them must agree: result_review: { reviewers: [rita], needed: 1 }
  agent_config:
    log_level: info

parties:
  alice:
    # Beside this file, or in ~/.ssh
    key: ~/.ssh/id_ed25519.pub
    assets:
      - file: penguin-sizes.py
        type: algorithm
        mime_type: text/x-python
  bob:
    # A key of its own: one key signs for one party
    key: id_ed25519.pub
    assets:
      - file: penguins.csv
        type: dataset
        mime_type: text/csv
        # approval: no run uses it without bob's approval. open: every run may use it
        use: approval
        # creator: nobody else gets the content. domain: every member of the domain may download it
        content_access: creator
`;

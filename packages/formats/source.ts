import * as v from 'valibot';
import { characters, described, namedInput, namedObject, orNull, privateKeyForAll, text, withoutPrivateKey } from './fields.ts';
import { holdsToken, leadsUp } from './public-address.ts';
import { holdsPrivateKey } from './holds-private-key.ts';
import type { ShownAssetType } from './vocabulary.ts';

const schemes = { 'oci-image': ['docker://', 'oci://'], gcs: ['gs://'], https: ['https://'], http: ['http://'] } as const;
type SourceType = keyof typeof schemes;
const sourceTypes = Object.keys(schemes) as SourceType[];

export const algorithmTypes = ['bin', 'python', 'wasm', 'docker'] as const;
const mostArguments = 100;
const longestArgument = 1_000;
/**
 * The longest arguments of an algorithm, in characters of all arguments together. A page of assets has the arguments of a hundred
 * assets.
 */
const longestArguments = 4_000;

const longestUrl = 2_048;
const allRead = 'everyone in the domain reads it. If the file needs that, give no address: you then send the file.';
const noS3 = 'Agents read s3:// addresses with the client of Google Cloud Storage, not from S3. Use https.';

const withoutToken = v.check(
  (text: string) => !holdsToken(text),
  'A part looks like an access token, which everyone would read. Use an address without it, or none: you then send the file.',
);

/**
 * Makes the schema of an address from which an agent fetches. Everyone in the domain reads the address, so it must hold no
 * password or token.
 */
const publicUrl = (schemes: readonly string[]) => {
  const expected = `Expected an address that begins with ${schemes.join(' or ')}, in ASCII without spaces, with a port up to 65535 if any.`;
  return v.pipe(
    text(1, longestUrl),
    v.check((url) => !url.startsWith('s3://'), noS3),
    v.check((url) => /^[\x21-\x5b\x5d-\x7e]+$/.test(url) && schemes.some((scheme) => url.startsWith(scheme)), expected),
    withoutPrivateKey,
    v.check((url) => !url.includes('?'), `Expected an address without a query: ${allRead}`),
    v.check((url) => !/^[^:]*:\/\/[^/]*@/.test(url), `Expected an address without a user or password: ${allRead}`),
    v.check((url) => !url.includes('#'), 'Remove # and what follows: an address may not have a part after #.'),
    v.check((url) => !leadsUp(url), 'Expected an address without two dots in a row.'),
    withoutToken,
    v.check((url) => /^[a-z]+:\/\/[^/]/.test(url) && URL.canParse(url), expected),
  );
};

const ofType = 'What the agent fetches from. It fits the scheme of `url`. Required with `url`.';
const ofUrl =
  'The address, which everyone in the domain reads: `docker://`, `oci://`, `gs://`, `https://` or `http://`. Omitted: a party sends the file, ' +
  'encrypted, to the agent.';
const ofPath = 'The path of the key that decrypts the file, in the key broker service `kbs`. Omitted: the file is not encrypted.';
const ofSource = 'Where the agent fetches the file, or the key of an encrypted file that a party sends.';
const ofKbs = 'The key broker service that gives the agent the key of an encrypted file.';
const ofKbsUrl = 'The address of the key broker service.';
const ofDecompress = 'Whether the agent unpacks the dataset, a ZIP file.';
const ofAlgorithmType = 'How the agent runs the algorithm. The agent takes `bin` by default.';
const ofArguments = `The arguments of the algorithm: up to ${mostArguments}, of up to ${longestArgument} characters, ${longestArguments} together.`;

export const fetched = {
  source: v.pipe(
    namedInput('AssetSource', ofSource, {
      type: v.exactOptional(
        described(
          v.picklist(sourceTypes, ({ input }) => (input === 's3' ? noS3 : `Expected ${sourceTypes.join(', ')}.`)),
          ofType,
        ),
      ),
      url: v.exactOptional(described(publicUrl(Object.values(schemes).flat()), ofUrl)),
      kbs_resource_path: v.exactOptional(
        v.pipe(
          text(1, 255),
          v.regex(
            /^(?!(?:.*\/)?\.{1,2}(?:\/|$))[\w.~+-]+(?:\/[\w.~+-]+){2}$/,
            'Expected a path of three segments, none of them . or .., such as default/key/penguins.',
          ),
          withoutPrivateKey,
          withoutToken,
          v.description(ofPath),
        ),
      ),
    }),
    v.forward(
      v.partialCheck(
        [['type'], ['url']],
        ({ type, url }) => (url === undefined ? type === undefined : [type, undefined].includes(sourceTypeOf(url))), // `url` has its own error
        'Expected the type that fits the scheme of `url`, and none without `url`.',
      ),
      ['type'],
    ),
    v.forward(
      v.partialCheck(
        [['url'], ['kbs_resource_path']],
        ({ url, kbs_resource_path }) => url !== undefined || kbs_resource_path !== undefined,
        'Expected this, or `kbs_resource_path` alone for a file that a party sends to the agent encrypted.',
      ),
      ['url'],
    ),
  ),
  kbs: namedInput('KeyBroker', ofKbs, { url: described(publicUrl(['https://', 'http://']), ofKbsUrl) }),
  decompress: described(v.boolean('Expected true or false.'), ofDecompress),
  algo_type: described(v.picklist(algorithmTypes, `Expected ${algorithmTypes.join(', ')}.`), ofAlgorithmType),
  algo_args: v.pipe(
    v.array(
      v.pipe(
        text(0, longestArgument),
        v.check((argument) => !argument.includes('\0'), 'Expected no null character.'),
      ),
    ),
    v.check((given) => !holdsPrivateKey(given.join('')), privateKeyForAll),
    v.maxLength(mostArguments, `Expected up to ${mostArguments} arguments.`),
    v.check(
      (given) => characters(given.join('')) <= longestArguments,
      `Expected arguments of up to ${longestArguments} characters together.`,
    ),
    v.description(ofArguments),
  ),
};

const shown = (longest: number, description: string) =>
  v.pipe(v.string(), v.description(description), v.metadata({ maxLength: longest }));

/**
 * The schemas of the source and the key broker of a file that the agent fetches, under the names of the agent. Empty fields are
 * left out.
 */
export const fetchedByAgent = {
  source: v.exactOptional(
    namedObject('ManifestSource', ofSource, {
      url: v.exactOptional(shown(longestUrl, ofUrl)),
      kbs_resource_path: v.exactOptional(shown(255, ofPath)),
      encrypted: v.exactOptional(described(v.literal(true), '`true` if the file is encrypted. Absent otherwise.')),
    }),
  ),
  kbs: v.exactOptional(
    namedObject('ManifestKeyBroker', ofKbs, {
      url: v.exactOptional(shown(longestUrl, ofKbsUrl)),
      enabled: described(v.literal(true), 'Tells the agent to fetch the file, encrypted or not.'),
    }),
  ),
};
export const decompressByAgent = v.exactOptional(described(v.literal(true), ofDecompress));
export const algorithmByAgent = { algo_type: v.exactOptional(fetched.algo_type), algo_args: v.exactOptional(fetched.algo_args) };

/*#__NO_SIDE_EFFECTS__*/
function orNone<const Schema extends v.GenericSchema>(schema: Schema) {
  return orNull(schema, `${v.getDescription(schema) ?? ''} null: none.`);
}

export const fetchedOrNone = {
  source: orNone(fetched.source),
  kbs: orNone(fetched.kbs),
  decompress: orNone(fetched.decompress),
  algo_type: orNone(fetched.algo_type),
  algo_args: orNone(fetched.algo_args),
};

export const sourceTypeOf = (url: string): SourceType | undefined =>
  sourceTypes.find((type) => schemes[type].some((scheme) => url.startsWith(scheme)));

/** The fields of an asset whose content the agent fetches, such as its source. Null: the asset has no such field. */
export type Fetched = { [Name in keyof typeof fetched]: v.InferOutput<(typeof fetched)[Name]> | null };

export const fetchedNames = ['source', 'kbs', 'decompress', 'algo_type', 'algo_args'] as const;

/** Returns the fields that do not fit the type of the asset or its lack of a source, each with what was expected. */
export function misfits(asset: { asset_type: ShownAssetType } & Fetched): { field: keyof Fetched; expected: string }[] {
  return fetchedNames.flatMap((field) => {
    if (field === 'kbs' && asset.source !== null && asset.source.url === undefined && asset.kbs === null)
      return [{ field, expected: 'Expected this too: `kbs_resource_path` alone is for a file whose key the agent gets there.' }];
    if (field === 'source' || asset[field] === null) return [];
    if (asset.source === null) return [{ field, expected: 'Expected `source` too: agents ignore this without it.' }];
    if (field !== 'kbs' && asset.source.url === undefined) {
      return [{ field, expected: 'Expected `source.url` too: of a file that a party sends, agents take this from the party.' }];
    }
    const only = field === 'kbs' ? asset.asset_type : field === 'decompress' ? 'dataset' : 'algorithm';
    return only === asset.asset_type
      ? []
      : [{ field, expected: `Expected this only of a source of ${only === 'dataset' ? 'a dataset' : 'an algorithm'}.` }];
  });
}

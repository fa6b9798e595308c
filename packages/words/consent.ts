import type { Schemas } from 'computation-management-client';
import type { Limits } from 'computation-management-formats/consent';
import { plainName, userText, imitated } from 'computation-management-formats/quoted-name';
import type { ChangeCard } from './changes.ts';
import { type Coverage, nobody } from './coverage.ts';

/** A part of a sentence. The texts of all parts, one after the other, are the sentence. */
export interface SentencePart {
  text: string;
  /** The kind of thing that the part names. Undefined for the words between names. Names are quoted, so that none can imitate the words around it. */
  names?: 'person' | 'file' | 'machines' | 'end';
  /** The warning about the name, such as `looks like alice`. */
  warning?: string;
}

interface Reading {
  computation: Pick<Schemas['ComputationView'], 'parties'>;
  /** The user who reads the sentence, and is `you` in it. */
  you: string;
  /** The limits of the approval. */
  limits?: Limits | undefined;
  /** The changes since the last approval of the user. A receiver that came since is `new`. */
  changes?: readonly ChangeCard[] | undefined;
}

/** The most datasets and receivers that the sentence names. */
const mostNamed = 5;

/**
 * Returns one sentence, in parts, that says what an approval allows: whose code reads whose data, on which machines, who gets the result,
 * and until when.
 */
export function consentSentence(
  { files, receivers, configuration }: Coverage,
  { computation, you, limits = {}, changes = [] }: Reading,
): SentencePart[] {
  const review = configuration.result_review;
  const holders = receivers.flatMap(({ users, fingerprint }) =>
    users?.length ? users : [`the holder of the key ${fingerprint}`],
  );
  const receiving = review?.consumers ?? holders;
  const creators = files.flatMap(({ asset }) => asset?.created_by ?? []);
  const named = (computation.parties ?? []).map(({ user }) => user);
  const people = new Set([...named, ...creators, ...receivers.flatMap(({ users = [] }) => users), ...(review?.consumers ?? [])]);
  const cameSince = new Set(changes.flatMap(({ subject, current, user }) => (subject === 'receiver' && current ? user : [])));
  const personOf = (user: string, ending = ''): SentencePart => {
    if (user === you) return { text: ending === '' ? 'you' : 'your', names: 'person' };
    if (!people.has(user)) return { text: `${user}${ending}`, names: 'person', warning: 'nobody is named' };
    const like = imitated(user, people);
    const notes = [
      ...(like === undefined ? [] : [`looks like ${userText(like)}`]),
      ...(cameSince.has(user) && ending === '' ? ['new'] : []),
    ];
    const warning = notes.join(', ');
    return {
      text: `${userText(user)}${ending}${warning && ` (${warning})`}`,
      names: 'person',
      ...(warning !== '' && { warning }),
    };
  };
  const fileOf = ({ asset, name, type }: Coverage['files'][number]): SentencePart[] => {
    const file = { text: name === undefined ? `the ${type}` : plainName(name), names: 'file' } as const;
    const whose = asset?.created_by;
    return whose === undefined ? [file, { text: ` of ${nobody}` }] : [personOf(whose, "'s"), { text: ' ' }, file];
  };
  const isWarned = ({ warning }: SentencePart) => Number(warning !== undefined);
  const partsOf = (users: string[], kind: string) => {
    const persons = users.map((user) => personOf(user)).sort((a, b) => isWarned(b) - isWarned(a)); // no warning is left out
    return listed(
      Array.from(persons, (part) => [part]),
      kind,
    );
  };
  const verb = (users: string[], one: string, many: string) => ({ text: users.length === 1 && users[0] !== you ? one : many });
  const [algorithm, ...datasets] = files;
  const isYours = ({ asset }: Coverage['files'][number]) => Number(asset?.created_by === you);
  const read = datasets.toSorted((a, b) => isYours(b) - isYours(a)).map(fileOf);
  const [first, ...rest] = [
    ...(algorithm ? fileOf(algorithm) : []),
    { text: ' reads ' },
    ...(read.length === 0 ? [{ text: 'no dataset' }] : listed(read, 'datasets')),
    { text: ' on ' },
    { text: machinesText(configuration.attestation_policy, limits.cvm_ids), names: 'machines' } as const,
    { text: '; ' },
    ...(review ? [...partsOf(holders, 'reviewers'), verb(holders, ' reviews', ' review'), { text: ' the result; ' }] : []),
    ...partsOf(receiving, 'receivers'),
    verb(receiving, ' gets', ' get'),
    { text: review ? ` it after ${review.needed === 1 ? 'a release' : `${review.needed} releases`}` : ' the result' },
    ...(configuration.log_access === 'parties' ? [{ text: '; all parties may read its logs' }] : []),
    { text: '; until ' },
    { text: endText(limits), names: 'end' } as const,
    { text: '.' },
  ];
  return [{ ...first, text: first.text === 'your' ? 'Your' : first.text }, ...rest];
}

/** Returns a sentence as one text. @param parts the parts of the sentence, in their order */
export function partsText(parts: readonly SentencePart[]): string {
  return parts.map(({ text }) => text).join('');
}

function listed(items: SentencePart[][], kind: string): SentencePart[] {
  const hidden = items.length - mostNamed;
  const named = hidden > 1 ? [...items.slice(0, mostNamed), [{ text: `${hidden} more ${kind}` }]] : items;
  return named.flatMap((item, index) => [
    ...(index === 0 ? [] : [{ text: index === named.length - 1 ? ' and ' : ', ' }]),
    ...item,
  ]);
}

function machinesText(policy: Coverage['configuration']['attestation_policy'], cvms: readonly string[] = []): string {
  const named = cvms.length > 0 ? cvms.map(plainName).join(' or ') : undefined;
  if (policy === null) return named ?? 'any machine';
  const { platforms, measurements, pcrs, allow_debug } = policy;
  const demanded = Object.keys(pcrs?.sha256 ?? {}).join(', ');
  const [only = '', ...more] = measurements;
  const measured = more.length === 0 ? `the measurement ${only.slice(0, 8)}…` : `one of ${measurements.length} measurements`;
  const kinds = platforms.map((platform) => platform.toUpperCase()).join(' or ');
  return `${named === undefined ? `${kinds} machines` : `${named}, if ${kinds},`} with ${measured}${demanded && ` and the policy's PCRs ${demanded}`}${allow_debug ? ', which their host may debug' : ''}`;
}

function endText({ expires_at, max_runs }: Limits): string {
  const ends = [
    ...(expires_at === undefined ? [] : [expires_at]),
    ...(max_runs === undefined ? [] : [`${max_runs} run${max_runs === 1 ? ' has' : 's have'} started`]),
  ];
  return ['something changes', ...ends].join(' or ');
}

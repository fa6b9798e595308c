import { styleText } from 'node:util';
import { type Schemas, sizeText } from 'computation-management-client';
import { canonicalDigest } from 'computation-management-formats/digests';
import { printable } from 'computation-management-formats/printable';
import { plainName, quotedName } from 'computation-management-formats/quoted-name';
import {
  agoText,
  type ChangeCard,
  changeCards,
  consentSentence,
  ContradictionError,
  type Coverage,
  describeConfiguration,
  describeManifest,
  hashGroups,
  type MarkedText,
  nobody,
  partsText,
  readCoverage,
  userText,
} from 'computation-management-words';
import { errorOf } from '../terminal/cms-error.ts';
import { hanging, wrapped } from '../terminal/text.ts';
import type { Context, Session } from './context.ts';

/**
 * Reads what an approval of a computation covers.
 * @throws CmsError if the service contradicts itself; ServiceProblem, also while there is no manifest
 */
export async function coverageOf({ typed, client }: Session, given: Parameters<typeof readCoverage>[1]): Promise<Coverage> {
  return await readCoverage(client, given).catch((error: unknown) => {
    if (!(error instanceof ContradictionError)) throw error;
    throw errorOf('conflict', error.message, typed, error);
  });
}

type Reading = Omit<Parameters<typeof consentSentence>[1], 'changes'>;

/**
 * Formats what an approval covers and what it does not protect from: the sentence first, then what changed since approvals that do not
 * count any more, and the digests last.
 */
export function formatCoverage(
  covered: Coverage,
  terminal: Pick<Context['terminal'], 'columns'>,
  { stale = [], ...reading }: Reading & { stale?: readonly StaleApproval[] | undefined },
): string {
  const { configuration, cautions, configuration_digest } = covered;
  const changes = stale.find(({ user }) => user === reading.you)?.cards;
  const inShort = partsText(consentSentence(covered, { ...reading, changes }));
  const rest = formatted(terminal, [
    ...partsOf(covered, true),
    ['On which machines, and how', describeConfiguration(configuration, reading.limits)],
    ['What this does not protect from', cautions.map((caution) => ({ label: '!', lines: [caution] }))],
    ['Digests', [...digestOf(covered), { label: 'Configuration', lines: [configuration_digest] }]],
  ]);
  return `${formatted(terminal, [['In short', [{ label: 'This allows', lines: [inShort] }]]])}${staleText(stale)}${rest}`;
}

/** Formats a manifest alone, without the owners of its files and keys. */
export function formatManifest(manifest: Schemas['Manifest'], terminal: Pick<Context['terminal'], 'columns'>): string {
  const shown = { manifest, ...describeManifest(manifest) };
  return formatted(terminal, [...partsOf(shown, false), ['Digests', digestOf(shown)]]);
}

const digestOf = ({ manifest }: Pick<Coverage, 'manifest'>): Row[] => [{ label: 'Manifest', lines: [canonicalDigest(manifest)] }];

/** A row of text for the terminal: a label, and the facts beside it, one a line. Names that others chose are always quoted. */
interface Row {
  label: string;
  lines: string[];
}
type Section = [title: string, rows: Row[]];

function formatted({ columns = 110 }: Pick<Context['terminal'], 'columns'>, sections: Section[]): string {
  return sections
    .map(([title, rows]) => {
      const width = Math.max(...rows.map(({ label }) => label.length)) + 2;
      return `${title}\n${rows.map((row) => rowText(row, width, columns)).join('')}`;
    })
    .join('');
}

type Parts = Pick<Coverage, 'manifest' | 'files' | 'receivers' | 'others'>;

/**
 * Returns the sections of text about the files and receivers of a manifest.
 * @param areKnown whether the owners of files and keys were read
 */
function partsOf({ manifest: { id, name, description }, files, receivers, others }: Parts, areKnown: boolean): Section[] {
  const byService = (users: readonly (string | undefined)[]) =>
    users.flatMap((user) => (user === undefined ? [] : [quotedName(user)])).join(', ') || nobody;
  const keyText = (fingerprint: string, users: readonly (string | undefined)[]) =>
    `key ${fingerprint}${areKnown ? ` of ${byService(users)}` : ''}`;
  const input = (file: Coverage['files'][number]): Row => ({
    label: file.type === 'algorithm' ? 'Algorithm' : `Dataset ${file.index}`,
    lines: [
      ...(areKnown ? [`brought by ${byService([file.asset?.created_by])}`] : []),
      ...(file.name === undefined ? [] : [[quotedName(file.name), ...factsOf(file)].join(', ')]),
      `SHA3-256 ${hashGroups(file.hash).join(' ')}`,
      keyText(file.fingerprint, [file.asset?.created_by]),
      ...file.lines,
    ],
  });
  return [
    [
      'What is computed',
      [
        { label: 'Computation', lines: [quotedName(name), id] },
        { label: 'Description', lines: [description === '' ? 'none' : quotedName(description)] },
        ...(others.length > 0 ? [{ label: 'Also', lines: others }] : []),
      ],
    ],
    ['Who brings what', files.map(input)],
    [
      'Who gets the results from the CVM',
      receivers.map(({ index, fingerprint, users = [], lines }) => ({
        label: `Receiver ${index + 1}`,
        lines: [keyText(fingerprint, users), ...lines],
      })),
    ],
  ];
}

function factsOf({ asset }: Coverage['files'][number]): string[] {
  return asset ? [asset.mime_type === '' ? 'no media type' : plainName(asset.mime_type), sizeText(asset.size)] : [];
}

/**
 * Formats a row, a label with its facts, so that no text of others begins a line, where titles stand, or stands where labels do, however
 * long the text is.
 */
function rowText({ label, lines }: Row, labelWidth: number, columns: number): string {
  const shown = lines.flatMap((line) => {
    const [first = '', ...more] = wrapped(line, Math.max(20, columns - labelWidth - 4));
    return [first, ...more.map((each) => `  ${each}`)];
  });
  return shown.map((line, index) => `  ${(index === 0 ? label : '').padEnd(labelWidth)}${line}\n`).join('');
}

/** An approval that does not count any more. */
interface StaleApproval {
  user: string;
  /** The reasons why it does not count, the most harmful first. */
  cards: ChangeCard[];
  /** The reasons as lines for the terminal. */
  text: string;
}

export const staleText = (stale: readonly StaleApproval[]) => stale.map(({ text }) => text).join('');

/** Explains why approvals of a computation do not count. Leaves out approvals that count. */
export async function staleApprovals(
  { terminal, client }: Session,
  id: string,
  isShown: (approval: Schemas['Approval']) => boolean = () => true,
): Promise<StaleApproval[]> {
  const { now, signal } = terminal;
  const { approvals } = await client.listApprovals({ id, signal });
  const explain = async (approval: Schemas['Approval']): Promise<StaleApproval> => {
    const { user, approved_at } = approval;
    const [computation, { events }] = await Promise.all([
      client.getComputation({ id, signal }),
      client.listEvents({ id, from: approved_at, limit: 100, signal }),
    ]);
    const cards = changeCards(approval, { computation, events });
    const title = `The approval of ${userText(user)}, given ${agoText(approved_at, now())}, does not count any more:`;
    const lines = [title, ...cards.flatMap((card) => cardLines(card, terminal))];
    return { user, cards, text: lines.map((line) => `${hanging(line, terminal.columns)}\n`).join('') };
  };
  return await Promise.all(approvals.filter((approval) => approval.stale_because !== null && isShown(approval)).map(explain));
}

/** Formats a change as lines: the sentence, and below it a name that looks like another, and the whole values
 * where the sentence shortens them or only some of their characters differ. */
function cardLines(
  { sentence, effect, at, approved, current, warning }: ChangeCard,
  { now, colours }: Context['terminal'],
): string[] {
  const ago = at === undefined ? '' : `, ${agoText(at, now())}`;
  const told = `  - ${sentence}${effect === 'changed' ? '' : ` [${effect}]`}${ago}`;
  const isShort = sentence.includes('…'); // other texts have it escaped
  const isPart = approved?.some(({ differs }) => !differs) === true && current?.some(({ differs }) => differs) === true;
  const marked = (text: MarkedText | null = []) =>
    (text ?? []).map((part) => (part.differs ? inverse(printable(part.text), colours) : printable(part.text))).join('');
  const sides = [approved && `      before: ${marked(approved)}`, current && `      now:    ${marked(current)}`];
  return [
    printable(told),
    ...(warning === undefined ? [] : [`      warning: ${printable(warning)}`]),
    ...(isPart || isShort ? sides.filter((side) => side !== null) : []),
  ];
}

const inverse = (text: string, colours: boolean) =>
  colours ? styleText('inverse', text, { validateStream: false }) : `[${text}]`;

import { type Client, page, pause, rowOfAsset, type Schemas, ServiceProblem } from 'computation-management-client';
import { plainName, quotedName } from 'computation-management-formats/quoted-name';
import { userText } from 'computation-management-words';
import { CmsError, errorOf, UsageError } from '../terminal/cms-error.ts';
import { jsonText } from '../terminal/text.ts';
import type { Context, Session } from './context.ts';

type Match = Pick<Schemas['Match'], 'id' | 'name'>;
type Named = 'computation' | 'asset';
/** A computation or an asset with the user to whom it belongs. */
type Owned = Match & { owner: string | null };

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const partOfUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{4,22}$/i;
/** The longest text that the service's search `find` takes, in Unicode code points. */
const longestQuery = 200;
/** The largest number of words of a name by which the service finds it. */
const mostWords = 8;
/** The largest number of matches that the service's search `find` returns. */
const mostMatches = 50;
const pauseInMilliseconds = 500;
/** The largest number of searches for the name of a thing that was just created. */
const mostSearches = 20;

/** Returns the first characters of a text, at most `most` of them. */
const beginning = (text: string, most: number) => Array.from(text).slice(0, most).join('');

/**
 * Returns the identifier of the computation or asset that a command names: by its identifier, the beginning of the identifier, or its exact
 * name, if no other has that name. The beginning of a name is not enough, and neither is an answer that the service has cut, since others
 * choose names. A command that changes something prints the name, the identifier and the owner before.
 * @throws CmsError if the name fits none, several, or more than the service lists
 */
export async function identified(context: Session, kind: Named, given: string): Promise<string> {
  const { client } = context;
  if (uuid.test(given)) {
    const id = given.toLowerCase();
    tellChanged(context, kind, async () => {
      if (kind === 'computation') return await client.getComputation({ id, peek: 'true' }).catch(unlessUnknown);
      const asset = await rowOfAsset(client, id);
      return asset && ownedAsset(asset);
    });
    return id;
  }
  for (let searches = 1; ; searches++) {
    const [{ matches, truncated }, newest] = await Promise.all([
      searched(context, kind, given, {}),
      newestOf(client, kind), // a new name is found some seconds later
    ]);
    const known = distinct([...matches, ...newest]);
    const fitting = known.filter((each) => isNamed(each, given));
    const [only, ...others] = fitting;
    if (truncated || others.length > 0) throw await ambiguous(context, kind, given, { fitting, truncated });
    if (!only) throw await unknown(context, kind, given);
    if (matches.some(({ id }) => id === only.id)) {
      tellChanged(context, kind, () => Promise.resolve(only));
      return only.id;
    }
    // The service's search does not know it yet, nor perhaps another one of that name.
    if (searches === mostSearches) {
      const what = `The ${kind} named ${quotedName(given)}`;
      throw new CmsError(`${what} is too new to be found by its name. Use its identifier: ${only.id}`);
    }
    await pause(pauseInMilliseconds, context.terminal.signal);
  }
}

/** Makes undefined of the error for something that the service does not know. @throws any other error */
export function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof ServiceProblem) || error.code !== 'not_found') throw error;
}

/** Searches for the computations or assets that have a name, or whose identifier begins with the text. */
async function searched({ client }: Session, kind: Named, given: string, filter: { owner?: string }) {
  if (Array.from(given).length > longestQuery) return { matches: [], truncated: false }; // no name is longer
  const exact = partOfUuid.test(given) ? {} : ({ exact: 'true' } as const);
  return await client.find({ q: given, limit: mostMatches, kind, ...exact, ...filter });
}

const isNamed = ({ id, name }: Match, given: string) =>
  name === given || (partOfUuid.test(given) && id.startsWith(given.toLowerCase()));

const distinct = <Each extends Match>(all: readonly Each[]) => [...new Map(all.map((each) => [each.id, each])).values()];

/**
 * Prints the name, the identifier and the owner of what a command names, on standard error, before the first request that changes
 * something. Prints nothing for what the service does not know, since the service then refuses the change.
 */
export function tellChanged(context: Context, kind: Named, read: () => Promise<Owned | undefined>): void {
  const { beforeChange, isJson, terminal } = context;
  beforeChange.push(async () => {
    const found = await read();
    if (!found) return;
    const { id, name, owner } = found;
    const text = isJson ? jsonText({ changing: { kind, id, name, owner } }) : `Changing the ${kind} ${ownedText(found)}.`;
    terminal.err(`${text}\n`); // not wrapped: no name of somebody else begins a line
  });
}

/** Returns the name, the identifier and the owner of a computation or asset, such as `"Iris" (ID) of alice`. */
export const ownedText = ({ id, name, owner }: Owned) => `${quotedName(name)} (${id}) of ${userText(owner ?? '')}`;

/** Returns the error for a name that several computations or assets have, or may have. It lists those of the user first. */
async function ambiguous(
  session: Session,
  kind: Named,
  given: string,
  { fitting, truncated }: { fitting: readonly Owned[]; truncated: boolean },
): Promise<CmsError> {
  const own = truncated ? (await searched(session, kind, given, { owner: session.user })).matches : [];
  const byId = (one: Match, other: Match) => (one.id < other.id ? 1 : -1); // newest first
  const all = distinct([...own.filter((each) => isNamed(each, given)).sort(byId), ...[...fitting].sort(byId)]);
  const list = all.map(({ id, owner }) => `\n  ${id} of ${userText(owner ?? '')}`).join('');
  const quoted = quotedName(given);
  const found = truncated
    ? `More ${kind}s may be named ${quoted} than the service lists`
    : `Several ${kind}s are named ${quoted}`;
  return new UsageError(`${found}. Use an identifier:${list}`, session.command(`${kind} list`));
}

async function unknown({ command, client, domain }: Session, kind: Named, given: string): Promise<CmsError> {
  const near = await suggestion(client, given, { kind });
  const message = `The domain ${domain} has no ${kind} named ${quotedName(given)}.${near}`;
  return errorOf('notFound', message, command(`${kind} list`));
}

/**
 * Returns sentences that suggest computations, assets or CVMs named nearly like a text, and say if the service may have nearer ones. Empty
 * if there are none.
 */
export async function suggestion(client: Client, given: string, kind: { kind?: Schemas['Match']['kind'] }): Promise<string> {
  const found = await Promise.all(likely(given).map((q) => client.find({ q, ...kind, limit: mostMatches })));
  const matches = found.flatMap(({ matches }) => matches);
  const near = nearest(given, matches);
  const isCut = near.length > 0 && found.some(({ truncated }) => truncated);
  return `${didYouMean(near)}${isCut ? ' There may be nearer ones.' : ''}`;
}

/**
 * Returns searches that find a name although letters of it were typed wrong: its beginnings, its words but for each one, and the first letters
 * of its words with whole numbers.
 */
function likely(given: string): string[] {
  const words = given.split(/\s+/).filter(Boolean).slice(0, mostWords);
  const others = words.length < 2 ? [] : words.map((left) => words.filter((word) => word !== left).join(' '));
  const beginnings = [3, 1, Math.ceil(given.length / 2)].map((most) => beginning(given, most));
  const letters = words.map((word) => (/\d/.test(word) ? word : beginning(word, 1))).join(' ');
  return [...new Set([...beginnings, letters, ...others])].filter((q) => q !== '' && Array.from(q).length <= longestQuery);
}

/**
 * Notes that a typed CVM is not registered, and names the registered CVMs whose identifier begins with the typed one. The typed CVM stays:
 * a run may use a CVM that nobody registered, and an approval never names another CVM than its user typed.
 */
export async function noteLikeCvms({ note, target, client }: Session, given: string): Promise<void> {
  if ((await target()).isLocal) return; // CVMs are simulated there, under any name
  const found = await client.find({ q: given, kind: 'cvm' }).catch(() => undefined);
  const cvms = found?.matches ?? [];
  if (cvms.length === 0 || cvms.some(({ id }) => id === given)) return;
  note(`No CVM is registered as ${plainName(given)}.${didYouMean(cvms.slice(0, 3).map(({ id }) => ({ id, name: id })))}\n`);
}

/** Lists the newest computations or assets with their owners. */
async function newestOf(client: Client, kind: Named): Promise<Owned[]> {
  if (kind === 'computation') return (await page(client, 'listComputations', { limit: 100 })).items;
  return (await page(client, 'listAssets', { limit: 100 })).items.map(ownedAsset);
}

const ownedAsset = ({ id, file_name: name, created_by: owner }: Schemas['AssetRow']): Owned => ({ id, name, owner });

function didYouMean(near: readonly Match[]): string {
  if (near.length === 0) return '';
  return ` Did you mean ${near.map(({ id, name }) => (name === id ? plainName(id) : `${quotedName(name)} (${id})`)).join(', ')}?`;
}

const mostNear = 3;

/** Returns the candidates whose name contains a text, or differs from the text in few letters: at most three, the nearest first. */
function nearest(given: string, candidates: readonly Match[]): Match[] {
  const plain = (text: string) => text.normalize('NFKC').toLowerCase();
  const most = Math.ceil(given.length / 3);
  return distinct(candidates)
    .map((match) => {
      const [name, text] = [plain(match.name), plain(given)];
      return { match, apart: name.includes(text) ? 0 : lettersApart(name, text) };
    })
    .filter(({ apart }) => apart <= most)
    .sort((one, other) => one.apart - other.apart)
    .slice(0, mostNear)
    .map(({ match }) => match);
}

/** Returns how many letters must be added, removed or changed to make one text of another (Levenshtein). */
function lettersApart(one: string, other: string): number {
  let before = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [row, letter] of Array.from(one).entries()) {
    const line = [row + 1];
    for (const [column, otherLetter] of Array.from(other).entries()) {
      const changed = (before[column] ?? 0) + (letter === otherLetter ? 0 : 1);
      line.push(Math.min(changed, (before[column + 1] ?? 0) + 1, (line[column] ?? 0) + 1));
    }
    before = line;
  }
  return before.at(-1) ?? 0;
}

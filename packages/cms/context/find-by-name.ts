import { type Client, findRows, page, type Schemas } from 'computation-management-client';
import { plainName, quotedName } from 'computation-management-formats/quoted-name';
import { CmsError, exitCodes, UsageError } from '../terminal/cms-error.ts';
import type { Connection, Context } from './context.ts';

type Match = Pick<Schemas['Match'], 'id' | 'name'>;
type Named = 'computation' | 'asset';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const partOfUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{4,22}$/i;
/** The longest text that the service's search `find` is asked for, in Unicode code points. */
export const longestQuery = 64;

/** Returns the first characters of a text, at most `most` of them. */
export const beginning = (text: string, most: number) => Array.from(text).slice(0, most).join('');

/**
 * Returns the identifier of the computation or asset that a command names: by its identifier, the beginning of the identifier, or its exact
 * name. The beginning of a name is not enough, since others choose names: the full name is suggested instead.
 * @throws CmsError if the name fits none or several
 */
export async function identified(
  { command }: Pick<Context, 'command'>,
  { client, domain }: Pick<Connection, 'client' | 'domain'>,
  kind: Named,
  given: string,
): Promise<string> {
  if (uuid.test(given)) return given.toLowerCase();
  const [{ matches }, { items: newest }] = await Promise.all([
    client.find({ q: beginning(given, longestQuery), kind, limit: 50 }),
    listed(client, kind, { limit: 100, offset: 0 }), // a new name is found some seconds later
  ]);
  const known = [...new Map<string, Match>([...matches, ...newest].map((match) => [match.id, match])).values()];
  const byName = known.filter(({ name }) => name === given);
  const byId = partOfUuid.test(given) ? known.filter(({ id }) => id.startsWith(given.toLowerCase())) : [];
  const found = byName.length > 0 ? byName : byId;
  const [only, ...others] = found;
  const next = command(`${kind} list`);
  if (only && others.length === 0) return only.id;
  if (only) {
    const ids = found.map(({ id }) => id).sort((one, other) => (one < other ? 1 : -1)); // newest first
    const rows = await findRows(ids, (range) => listed(client, kind, range));
    const list = ids.map((id) => `  ${id} of ${plainName(rows.get(id)?.owner ?? '')}`).join('\n');
    throw new UsageError(`Several ${kind}s are named ${quotedName(given)}. Use an identifier:\n${list}`, next);
  }
  const message = `The domain ${domain} has no ${kind} named ${quotedName(given)}.${await suggestion(client, given, { kind, known })}`;
  throw new CmsError(message, { next, exitCode: exitCodes.notFound });
}

/**
 * Returns a sentence that suggests computations, assets or CVMs named nearly like a text. Empty if there are none.
 * @param known further things to suggest
 */
export async function suggestion(
  client: Client,
  given: string,
  { known = [], ...kind }: { kind?: Schemas['Match']['kind']; known?: Match[] },
): Promise<string> {
  const { matches } = await client.find({ q: beginning(given, 3), ...kind, limit: 50 });
  return didYouMean(nearest(given, [...known, ...matches]));
}

/** Returns the identifier of the only registered CVM that begins with a text. Otherwise returns the text itself. */
export async function registeredCvm({ client }: Pick<Connection, 'client'>, given: string): Promise<string> {
  const cvms = await cvmsLike(client, given);
  return !cvms.includes(given) && cvms.length === 1 ? (cvms[0] ?? given) : given;
}

/**
 * Notes that a typed CVM is not registered, and names the registered CVMs whose identifier begins with the typed one. The typed CVM stays:
 * a run may use a CVM that nobody registered, and an approval never names another CVM than its user typed.
 */
export async function noteLikeCvms({ note, target }: Context, { client }: Connection, given: string): Promise<void> {
  if ((await target()).isLocal) return; // CVMs are simulated there, under any name
  const cvms = await cvmsLike(client, given).catch((): string[] => []);
  if (cvms.length === 0 || cvms.includes(given)) return;
  note(`No CVM is registered as ${plainName(given)}.${didYouMean(cvms.slice(0, 3).map((id) => ({ id, name: id })))}\n`);
}

async function cvmsLike(client: Client, given: string): Promise<string[]> {
  return (await client.find({ q: given, kind: 'cvm' })).matches.map(({ id }) => id);
}

/** Lists computations or assets with their owners, newest first. */
export async function listed(client: Client, kind: Named, range: { limit: number; offset: number }) {
  if (kind === 'computation') return await page(client, 'listComputations', range);
  const { items, total } = await page(client, 'listAssets', range);
  return { items: items.map(({ id, file_name: name, created_by: owner }) => ({ id, name, owner })), total };
}

function didYouMean(near: readonly Match[]): string {
  if (near.length === 0) return '';
  return ` Did you mean ${near.map(({ id, name }) => (name === id ? plainName(id) : `${quotedName(name)} (${id})`)).join(', ')}?`;
}

const mostNear = 3;

/** Returns the candidates whose name contains a text, or differs from the text in few letters: at most three, the nearest first. */
function nearest(given: string, candidates: readonly Match[]): Match[] {
  const plain = (text: string) => text.normalize('NFKC').toLowerCase();
  const most = Math.ceil(given.length / 3);
  const each = [...new Map(candidates.map((match) => [match.id, match])).values()];
  return each
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

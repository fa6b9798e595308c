import * as v from 'valibot';
import {
  becauseOf,
  describeRefusal,
  missingApprovals,
  neededApprovals,
  mostReasons,
  type Refusal,
  refusalSchema,
} from '../approvals/index.ts';
import { storedAsset, type StoredAsset } from '../rows/asset.ts';
import { assetKey, assetNumber } from '../rows/read-asset.ts';
import { partiesOf } from '../rows/parties.ts';
import { storedComputation, type StoredComputation, nameOfComputation, computationNumber } from '../rows/computation.ts';
import { approvableOf, type Inputs, inputsOf, readParts } from '../rows/manifest.ts';
import { parseDefinition } from '../rows/definition.ts';
import { computationKeys, listKeys, lists, userKeys } from '../table/keys.ts';
import { type Table, getItems, queryPrefix } from '../table/table.ts';
import { mostAssets, readParticipations, type Participation } from '../rows/participation.ts';
import { parseStored } from '../table/stored.ts';
import { idOfComputation, idOfAsset, idOfRun } from 'computation-management-formats/identifiers';
import { timestamp } from 'computation-management-formats/timestamps';
import { shownText } from 'computation-management-formats/fields';

/** The number of computations that are examined together for the open tasks of a user. */
const computationsAtOnce = 100;

type Part = Pick<Todo, 'approvals' | 'keys' | 'refusals' | 'invitations'>;

/**
 * Reads the open tasks of a user: approvals to give, keys and content to upload, refusals to read and invitations. Examines the
 * user's computations in parts of 100, beginning with those that the user joined by an action of their own, up to 300 computations
 * and 1,000 assets. Computations that only name the user are apart from these limits: the newest 1,000 are read, and the newest 20 of
 * each owner examined, up to 100. One round trip, and three for each part. Costs at most 600 read units for 100 computations with 3 assets each, 5,000 in the worst case.
 * @param at RFC 3339, UTC, milliseconds
 */
export async function readTodo(table: Table, domain: string, userId: string, at: string): Promise<Todo> {
  const [{ participations, areAll, inviting, areAllInviting }, pending] = await Promise.all([
    readParticipations(table, domain, userId),
    readPending(table, domain, userId),
  ]);
  const examined = new Set<number>();
  const examineAll = async () => {
    const parts: Part[] = [];
    for (let start = 0; start < participations.length && examined.size <= mostAssets; start += computationsAtOnce) {
      const part = participations.slice(start, start + computationsAtOnce);
      parts.push(await examine(table, { domain, userId, at }, part, examined));
    }
    return {
      approvals: parts.flatMap(({ approvals }) => approvals),
      keys: parts.flatMap(({ keys }) => keys),
      refusals: parts.flatMap(({ refusals }) => refusals),
      invitations: parts.flatMap(({ invitations }) => invitations),
    };
  };
  const newest = pending.slice(0, mostEntries);
  const [examinedPart, invitedPart, assets] = await Promise.all([
    examineAll(),
    readInvitations(table, { domain, userId, at }, inviting),
    readAssets(table, domain, newest),
  ]);
  const { approvals, refusals } = examinedPart;
  const keys = [...examinedPart.keys, ...invitedPart.keys];
  const invitations = newestOfEach([...examinedPart.invitations, ...invitedPart.invitations]);
  const content = contentOf(newest, assets);
  const isComplete = areAll && examined.size <= mostAssets;
  const arrivedMeanwhile = newest.length - content.length;
  const totalOf = ({ length }: unknown[], isExact = isComplete) => (isExact ? length : null);
  const totals = {
    approvals: totalOf(approvals),
    keys: totalOf(keys),
    content: pending.length > mostAssets ? null : pending.length - arrivedMeanwhile,
    reviews: 0,
    refusals: totalOf(refusals),
    invitations: totalOf(invitations, isComplete && areAllInviting),
  };
  return {
    approvals: approvals.slice(0, mostEntries),
    keys: keys.slice(0, mostEntries),
    content,
    reviews: [],
    refusals: refusals.slice(0, mostEntries),
    invitations: invitations.slice(0, mostEntries),
    totals,
    as_of: at,
  };
}

/** The most invitations that are listed of one inviter, so that nobody hides those of others. */
const mostOfInviter = 20;

/** Returns the newest 20 invitations of each owner, newest first. */
function newestOfEach<Invitation extends { computation_id: string; owner: string }>(invitations: Invitation[]): Invitation[] {
  const numberOf = ({ computation_id }: Invitation) => computationNumber(computation_id);
  const sorted = invitations.toSorted((a, b) => numberOf(b) - numberOf(a));
  const kept = new Set([...Map.groupBy(sorted, ({ owner }) => owner).values()].flatMap((each) => each.slice(0, mostOfInviter)));
  return sorted.filter((invitation) => kept.has(invitation));
}

/**
 * Finds the invitations among computations that only name a user, and the keys that such computations need: of consumers who have
 * approved or refused already.
 * @param inviting the numbers of the computations
 */
async function readInvitations(
  table: Table,
  { domain, userId }: Reader,
  inviting: number[],
): Promise<Pick<Part, 'keys' | 'invitations'>> {
  const rows = await readRows(table, domain, inviting);
  const named = rows.flatMap((row) => (row ? [{ computation_id: row.id, name: row.name, owner: row.owner }] : []));
  const newest = newestOfEach(named).slice(0, computationsAtOnce);
  const { providers, consumers, approval, refusal } = computationKeys;
  const lists = await getItems(
    table,
    newest.flatMap(({ computation_id: id }) => [providers(id), consumers(id), approval(id, userId), refusal(id, userId)]),
  );
  const found = newest.map((invitation, index) => {
    const [ofProviders, ofConsumers, ...acts] = lists.slice(4 * index, 4 * index + 4);
    const named = parseDefinition([ofProviders, ofConsumers].filter((item) => item !== undefined));
    const expected = (['provider', 'consumer'] as const).filter((part) => named[`${part}s`].includes(userId));
    return { invitation, expected, hasActed: acts.some((act) => act !== undefined) };
  });
  const keys = found.filter(({ hasActed, expected }) => hasActed && expected.includes('consumer'));
  const invitations = found.filter(({ hasActed, expected }) => !hasActed && expected.length > 0);
  return {
    keys: keys.map(({ invitation: { owner: _, ...key } }) => key),
    invitations: invitations.map(({ invitation, expected }) => ({ ...invitation, expected })),
  };
}

interface Reader {
  domain: string;
  userId: string;
  at: string;
}

/**
 * Finds the approvals and keys that computations need from a user.
 * @param examined gets the numbers of the assets of these computations, and more than 1,000 if not all fit
 */
async function examine(
  table: Table,
  { domain, userId, at }: Reader,
  participations: Participation[],
  examined: Set<number>,
): Promise<Part> {
  const fitting = withinLimit(participations, ({ assets }) => assets, examined);
  const numbers = [...new Set(fitting.flatMap(({ assets }) => assets))];
  const [rows, ownAssets] = await Promise.all([
    readRows(
      table,
      domain,
      fitting.map(({ computation }) => computation),
    ),
    readAssets(table, domain, numbers),
  ]);
  const candidates = fitting.flatMap((participation, index) => {
    const row = rows[index];
    const isCandidate = row && (mayWait(participation, row, ownAssets) || mayTell(participation, row, userId));
    return isCandidate ? [row] : [];
  });
  const found = await readAllInputs(table, domain, candidates, examined);
  const waiting = found.map((inputs) => ({ inputs, ...waitsFor(inputs, userId, at) }));
  const nameOf = ({ computation: { id, name } }: Inputs) => ({ computation_id: id, name });
  return {
    approvals: waiting.flatMap(({ inputs, approval }) => (approval ? [{ ...nameOf(inputs), ...approval }] : [])),
    keys: waiting.flatMap(({ inputs, key }) => (key ? [nameOf(inputs)] : [])),
    refusals: found.flatMap((inputs) => refusalsOf(inputs, userId).map((refusal) => ({ ...nameOf(inputs), ...refusal }))),
    invitations: found.flatMap((inputs) => {
      const expected = invitedAs(inputs, userId);
      return expected.length > 0 ? [{ ...nameOf(inputs), owner: inputs.computation.owner, expected }] : [];
    }),
  };
}

/** Tells whether a computation may have refusals that its owner should read, or invite a user who has not acted. */
function mayTell({ isNamed, hasKey }: Participation, row: StoredComputation, userId: string): boolean {
  return (row.owner === userId && row.refusal_count > 0) || (isNamed && !hasKey);
}

/** Lists the refusals that stand in the place of approvals that a run needs. Only the owner of the computation gets them, also the own. */
function refusalsOf(inputs: Inputs, userId: string): Refusal[] {
  if (inputs.computation.owner !== userId) return [];
  const needed = neededApprovals(inputs).map(({ user }) => user);
  return inputs.refusals.filter(({ user_id }) => needed.includes(user_id)).map(describeRefusal);
}

/** Tells as what a computation names a user who has not acted in it. Empty if it does not, or the user has. */
function invitedAs(inputs: Inputs, userId: string): Todo['invitations'][number]['expected'] {
  const party = partiesOf(inputs.computation, inputs).find(({ user }) => user === userId);
  return party?.invited ? party.parts.filter((part) => part === 'provider' || part === 'consumer') : [];
}

/**
 * Returns the first of the given computations, as many as have no more than 1,000 assets together with those that were examined
 * before. Adds the numbers of their assets to `examined`.
 */
function withinLimit<Entry>(entries: Entry[], assetsOf: (entry: Entry) => number[], examined: Set<number>): Entry[] {
  const end = entries.findIndex((entry) => {
    for (const number of assetsOf(entry)) examined.add(number);
    return examined.size > mostAssets;
  });
  return end === -1 ? entries : entries.slice(0, end);
}

/** Lists a user's assets whose content has not arrived: those of the `pending` numbers that still wait for it. */
function contentOf(pending: number[], assets: Map<number, StoredAsset>): Todo['content'] {
  return pending.flatMap((number) => {
    const asset = assets.get(number);
    return asset?.state === 'pending' ? [{ asset_id: asset.id, file_name: asset.file_name }] : [];
  });
}

/** Reads the numbers of the user's assets whose content has not arrived, newest first: 1,001 at most. */
async function readPending(table: Table, domain: string, userId: string): Promise<number[]> {
  const { pending: prefix } = userKeys.prefixes;
  const options = { limit: mostAssets + 1, newestFirst: true };
  const items = await queryPrefix(table, userKeys.partition(domain, userId), prefix, options);
  return items.map(({ sk }) => Number(String(sk).slice(prefix.length)));
}

/** Reads the rows of the computations in which a user takes part. Returns undefined for a computation that has been deleted. */
async function readRows(table: Table, domain: string, numbers: number[]): Promise<(StoredComputation | undefined)[]> {
  const list = lists.computations(domain);
  const items = await getItems(
    table,
    numbers.map((number) => listKeys.row(list, number)),
  );
  return items.map((item) => item && parseStored(storedComputation, item, 'computation'));
}

/** Reads the assets of a domain with the given numbers. Leaves out those that have been deleted. */
async function readAssets(table: Table, domain: string, numbers: number[]): Promise<Map<number, StoredAsset>> {
  const list = lists.assets(domain);
  const items = await getItems(
    table,
    numbers.map((number) => listKeys.row(list, number)),
  );
  return new Map(
    numbers.flatMap((number, index): [number, StoredAsset][] => {
      const item = items[index];
      return item ? [[number, parseStored(storedAsset, item, 'asset')]] : [];
    }),
  );
}

/** Tells whether a computation may need something from a user, as far as its row and the user's own assets show. */
function mayWait(
  { isOwner, isNamed, hasKey, assets, isPartial }: Participation,
  { approval }: StoredComputation,
  ownAssets: Map<number, StoredAsset>,
): boolean {
  const linked = assets.flatMap((number) => ownAssets.get(number) ?? []);
  const mayNeedKey = !hasKey && (isOwner || isNamed || linked.some(({ user_key }) => user_key === ''));
  return isPartial || mayNeedKey || approval !== 'none' || linked.some(({ use }) => use === 'approval');
}

/** Reads what runs of the given computations would use, as long as no more than 1,000 assets are examined. Two round trips. */
async function readAllInputs(
  table: Table,
  domain: string,
  computations: StoredComputation[],
  examined: Set<number>,
): Promise<Inputs[]> {
  const read = computations.map(async (computation) => ({ computation, parts: await readParts(table, computation.id) }));
  const found = withinLimit(await Promise.all(read), ({ parts }) => parts.assetIds.map(assetNumber), examined);
  const ids = [...new Set(found.flatMap(({ parts }) => parts.assetIds))];
  const items = await getItems(
    table,
    ids.map((id) => assetKey(domain, id)),
  );
  const rows = new Map(ids.map((id, index) => [id, items[index]]));
  return found.map(({ computation, parts }) =>
    inputsOf(
      computation,
      parts,
      parts.assetIds.map((id) => rows.get(id)),
    ),
  );
}

/** The approval and the key that a computation needs from a user. */
interface WaitsFor {
  approval: Pick<Todo['approvals'][number], 'because' | 'manifest_digest'> | undefined;
  key: boolean;
}

/** Finds what a computation needs from a user: an approval that would count, or a key. */
function waitsFor(inputs: Inputs, userId: string, at: string): WaitsFor {
  const { digest, configuration_digest, missing } = approvableOf(inputs);
  const missingApproval = missingApprovals(inputs, { digest, configuration_digest, at }).find(({ user }) => user === userId);
  const refusal = inputs.refusals.find(({ user_id }) => user_id === userId);
  const hasRefused = refusal?.digest === digest && refusal?.configuration_digest === configuration_digest;
  const hasKey = inputs.keys.some(({ user_id }) => user_id === userId);
  const canGive = hasKey || inputs.computation.approval !== 'all_signed'; // without a key, no approval would count
  return {
    approval:
      missingApproval && digest !== undefined && canGive && !hasRefused
        ? { because: becauseOf(missingApproval), manifest_digest: digest }
        : undefined,
    key: !hasKey && needsKey(inputs, userId, missing?.keys ?? []),
  };
}

/** Tells whether a computation needs the public key of a user: for the manifest, for the result, or to sign an approval. */
function needsKey(inputs: Inputs, userId: string, missingKeys: string[]): boolean {
  if (missingKeys.includes(userId)) return true;
  if (inputs.consumers.includes(userId) && invitedAs(inputs, userId).length === 0) return true;
  return inputs.computation.approval === 'all_signed' && neededApprovals(inputs).some(({ user }) => user === userId);
}

/** The largest number of entries in each list of a user's open tasks. */
const mostEntries = 100;

const ofComputation = { computation_id: idOfComputation, name: nameOfComputation };

/*#__NO_SIDE_EFFECTS__*/
function total(what: string) {
  const description = `How many ${what}, also beyond the list. null if more computations or assets had to be examined than are.`;
  return v.pipe(v.nullable(v.pipe(v.number(), v.integer())), v.description(description));
}

/*#__NO_SIDE_EFFECTS__*/
function listOf<Entries extends v.ObjectEntries>(title: string, what: string, entries: Entries, description: string) {
  const entry = v.pipe(v.object({ ...ofComputation, ...entries }), v.title(title), v.description(what));
  return v.pipe(v.array(entry), v.metadata({ maxItems: mostEntries }), v.description(description));
}

/** The open tasks of a user (docs/contract.md, section 9). */
export const todoSchema = v.pipe(
  v.object({
    approvals: v.pipe(
      v.array(
        v.pipe(
          v.object({
            ...ofComputation,
            because: v.pipe(
              v.array(shownText(255)),
              v.description(
                'Why your approval is needed: the file names of your assets that need it, and `result consumer` if you must approve as one. A file of that name is in quotes.',
              ),
              v.metadata({ maxItems: mostReasons }),
            ),
            manifest_digest: v.pipe(shownText(64), v.description('The digest of the manifest to approve.')),
          }),
          v.title('ApprovalToGive'),
          v.description('A computation that needs your approval.'),
        ),
      ),
      v.metadata({ maxItems: mostEntries }),
      v.description('Computations with a manifest that need your approval and do not have it.'),
    ),
    keys: v.pipe(
      v.array(
        v.pipe(v.object(ofComputation), v.title('KeyToUpload'), v.description('A computation that needs your public key.')),
      ),
      v.metadata({ maxItems: mostEntries }),
      v.description('Computations that need your public key and do not have it.'),
    ),
    content: v.pipe(
      v.array(
        v.pipe(
          v.object({
            asset_id: idOfAsset,
            file_name: v.pipe(shownText(255), v.description('The name of the file.')),
          }),
          v.title('ContentToUpload'),
          v.description('An asset of yours without content.'),
        ),
      ),
      v.metadata({ maxItems: mostEntries }),
      v.description('Your assets whose content has not arrived.'),
    ),
    reviews: listOf('ReviewToGive', 'A result that waits for your review.', { run_id: idOfRun }, 'Empty: not supported yet.'),
    refusals: listOf(
      'RefusalToRead',
      'A refusal to approve a computation of yours.',
      refusalSchema.entries,
      'Refusals of users whose approval your computations need.',
    ),
    invitations: listOf(
      'Invitation',
      'A computation that names you, in which you have not acted.',
      {
        owner: v.pipe(shownText(255), v.description("The owner of the computation, a user's `sub`.")),
        expected: v.pipe(
          v.array(v.picklist(['provider', 'consumer'])),
          v.description('As what the computation names you.'),
          v.metadata({ minItems: 1, maxItems: 2 }),
        ),
      },
      `Computations that name you, in which you have no key, have linked no asset, and have neither approved nor refused. The newest ${mostOfInviter} of each owner, newest first.`,
    ),
    totals: v.pipe(
      v.object({
        approvals: total('approvals'),
        keys: total('keys'),
        content: total('assets'),
        reviews: total('reviews'),
        refusals: total('refusals'),
        invitations: total('invitations'),
      }),
      v.title('TodoTotals'),
      v.description('How long the lists would be without a limit.'),
    ),
    as_of: v.pipe(timestamp, v.description('The time as of which the lists are right.')),
  }),
  v.title('Todo'),
  v.description(
    'Your open tasks. First those in computations that you created and own, uploaded a key to or linked an asset to; newest first within each.',
  ),
);

export type Todo = v.InferOutput<typeof todoSchema>;

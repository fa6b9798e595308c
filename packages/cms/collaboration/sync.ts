import { isDeepStrictEqual } from 'node:util';
import { type Arguments, assetWithoutReading, pages, type Schemas, wholeAnswer } from 'computation-management-client';
import { userText, usersText } from 'computation-management-words';
import { approvalLevels } from 'computation-management-formats/vocabulary';
import { uploadedKey } from '../context/computation-reference.ts';
import type { Session } from '../context/context.ts';
import { tellChanged, unlessUnknown } from '../context/find-by-name.ts';
import type { GivenKey } from '../files/key-files.ts';
import { measure, upload, usualUse } from '../files/transfers.ts';
import { errorOf, UsageError } from '../terminal/cms-error.ts';
import { type Collaboration, nameOf, type PlannedAsset } from './collaboration.ts';

/** A part of a collaboration (computation, asset or key), and what `cms init` did about it. */
export interface Step {
  subject: 'computation' | 'algorithm' | 'dataset' | 'key';
  name: string;
  /** The outcome of a step of `cms init` in words, such as `created` or `unchanged`. */
  outcome: string;
}

type Body = Arguments<'updateComputation'>['body'];

/** A change of `cms init` that takes away a protection that the computation or an asset has. */
export interface Lowering {
  /** The protection that the change takes away, such as `content_access of penguins.csv`. */
  what: string;
  before: string;
  after: string;
}

/** A change that `cms init` plans for a part of a collaboration, and makes after the caller has agreed. */
interface Plan<Given extends unknown[], Done> {
  /** The protections that the planned change takes away. */
  lowers: Lowering[];
  /** Makes the planned change. `mayLower`: whether the caller agrees to lose the protections in `lowers`. Otherwise they stay as they are. */
  apply: (mayLower: boolean, ...given: Given) => Promise<Done>;
}

/** Returns the names of the members of an object that another one has otherwise. */
const changedIn = (before: object, after: object): string[] =>
  Object.entries(after).flatMap(([name, value]) =>
    isDeepStrictEqual((before as Record<string, unknown>)[name], value) ? [] : [name],
  );

const stays = (lowers: readonly Lowering[], mayLower: boolean) =>
  lowers.length === 0 || mayLower ? '' : `; stays: ${lowers.map(({ what, before }) => `${what} ${before}`).join(', ')}`;

/**
 * Plans to create the computation of a collaboration, or to update the fields that differ from the file. Only the owner can.
 * @returns the plan, and the computation if it exists
 */
export async function planComputation(
  context: Session,
  planned: Collaboration['computation'],
): Promise<Plan<[], { id: string; step: Step }> & { id: string | undefined }> {
  const { client, user } = context;
  const { id: _, owner, ...fields } = planned;
  const done = (outcome: string): Step => ({ subject: 'computation', name: planned.name, outcome });
  const found = await findComputation(context, planned);
  if (!found) {
    if (user !== owner) {
      const name = JSON.stringify(planned.name);
      const message = `${userText(owner)} has not created the computation ${name} yet, and must type this first.`;
      throw errorOf('notFound', message, context.typed);
    }
    const create = async () => ({ id: (await client.createComputation({ body: fields })).id, step: done('created') });
    return { id: undefined, lowers: [], apply: create };
  }
  const { id } = found;
  const { data, etag } = wholeAnswer(await client.call('getComputation', { id }));
  tellChanged(context, 'computation', () => Promise.resolve(data));
  const before: Body = data;
  const agent_config = { ...before.agent_config, ...fields.agent_config };
  const after: Body = { ...before, ...fields, agent_config };
  const changed = changedIn(before, after);
  const lowers = user === owner ? loweredBy(before, after) : [];
  const apply = async (mayLower: boolean) => {
    if (changed.length === 0) return { id, step: done('unchanged') };
    if (user !== owner) return { id, step: done(`differs from the file: ${changed.join(', ')}`) };
    const kept = mayLower ? [] : lowers.map(({ field }) => [field, before[field]] as const);
    const body: Body = { ...after, ...(Object.fromEntries(kept) as Partial<Body>) };
    const others = changedIn(before, body);
    if (others.length > 0) await client.updateComputation({ id, body, ifMatch: etag });
    return { id, step: done(`${others.length > 0 ? `changed: ${others.join(', ')}` : 'unchanged'}${stays(lowers, mayLower)}`) };
  };
  return { id, lowers, apply };
}

/**
 * The fields of a computation that protect its parties: who gets results, who reviews them, who may link assets, whose approval counts, who
 * may read logs, and what the agent trusts.
 */
type Protection = 'consumers' | 'providers' | 'approval' | 'log_access' | 'attestation_policy' | 'result_review' | 'agent_config';

/** Returns the protections that a change of a computation takes away. */
function loweredBy(before: Body, after: Body): (Lowering & { field: Protection })[] {
  const lowers: (Lowering & { field: Protection })[] = [];
  const lower = (field: Protection, before: string, after: string, what: string = field) =>
    lowers.push({ field, what, before, after });
  for (const [field, everybody] of [
    ['consumers', 'all with the role result_consumer'],
    ['providers', 'all who provide assets'],
  ] as const) {
    const [users, others] = [before[field] ?? [], after[field] ?? []];
    const isWider = others.length === 0 || others.some((user) => !users.includes(user));
    if (users.length > 0 && isWider) lower(field, usersText(users), usersText(others) || everybody);
  }
  const [level = 'none', asked = 'none'] = [before.approval, after.approval];
  if (approvalLevels.indexOf(asked) < approvalLevels.indexOf(level)) lower('approval', level, asked);
  if (before.log_access !== 'parties' && after.log_access === 'parties') lower('log_access', 'none', 'parties');
  const [policy, otherPolicy] = [before.attestation_policy, after.attestation_policy];
  if (policy && !isDeepStrictEqual(policy, otherPolicy))
    lower('attestation_policy', 'as it is', otherPolicy ? 'another one' : 'none');
  const [review, otherReview] = [before.result_review, after.result_review];
  const isSameGroup = isDeepStrictEqual(review?.reviewers.toSorted(), otherReview?.reviewers.toSorted());
  if (review && !(isSameGroup && otherReview && otherReview.needed >= review.needed))
    lower('result_review', reviewText(review), otherReview ? reviewText(otherReview) : 'none');
  const [config = {}, changed = {}] = [before.agent_config, after.agent_config];
  if (config.attested_tls === true && changed.attested_tls !== true) lower('agent_config', 'true', 'false', 'attested_tls');
  for (const field of ['cert_file', 'server_ca_file', 'client_ca_file', 'server_key'] as const) {
    if (config[field] && changed[field] !== config[field]) lower('agent_config', 'as it is', 'another one', field);
  }
  return lowers;
}

const reviewText = ({ reviewers, needed }: NonNullable<Body['result_review']>) => `${needed} of ${usersText(reviewers)}`;

type Row = Pick<Schemas['ComputationRow'], 'id'>;

/** The number of computations of an owner from which the search by name takes seconds, so that a note announces the wait. */
const manyComputations = 1_000;

/**
 * Finds the computation of a collaboration, by its identifier or by its owner and name.
 * @throws CmsError if the owner has several computations of the name, or none has the identifier
 */
export async function findComputation(
  { command, noteWait, client, domain }: Session,
  { id, name, owner }: Collaboration['computation'],
): Promise<Row | undefined> {
  if (id !== undefined) {
    const row = await client.getComputation({ id, peek: 'true' }).catch(unlessUnknown);
    if (row) return row;
    // A file that names a computation never creates another one: each repeat would do so again.
    const message = `The domain ${domain} has no computation ${id}. Correct this id in the file. To create a computation, remove the id.`;
    throw errorOf('notFound', message, command('computation list'));
  }
  const quoted = JSON.stringify(name);
  const found: Row[] = [];
  for await (const { items, offset, total } of pages(client, 'listComputations', { owner })) {
    found.push(...items.filter((each) => each.name === name && each.owner === owner));
    if (offset > 0 || total < manyComputations) continue;
    noteWait(`Searching ${total} computations of ${userText(owner)} for ${quoted}. To be faster, add its id to the file.\n`);
  }
  if (found.length < 2) return found[0];
  const list = found.map((each) => `  id: ${each.id}`).join('\n');
  throw new UsageError(`${userText(owner)} has several computations named ${quoted}. Add one of these to the file:\n${list}`);
}

type Asset = Schemas['Asset'];

/**
 * Plans to upload and link an asset of the caller, unless the computation has the asset already. A file with another content replaces the
 * asset that the caller linked before.
 * @param id the identifier of the computation, if it exists
 * @param file the path of the content. Undefined: the agent fetches the content
 */
export async function planAsset(
  context: Session,
  id: string | undefined,
  { planned, file }: { planned: PlannedAsset; file: string | undefined },
): Promise<Plan<[computation: string], { step: Step; asset: string }> & { isUpload: boolean }> {
  const { client } = context;
  const { file: _, type: asset_type, name: __, ...others } = planned;
  const file_name = nameOf(planned);
  const done = (asset: string, outcome: string) => ({ step: { subject: asset_type, name: file_name, outcome }, asset });
  const linked = id === undefined ? undefined : await linkedAsset(context, id, { file_name, asset_type });
  const earlier = linked?.before;
  const isUpload =
    file === undefined
      ? earlier?.source?.url !== planned.source?.url
      : earlier?.checksum == null || earlier.source !== null || earlier.checksum !== (await measure(context, file)).checksum;
  const open = { use: 'open', content_access: 'domain' } as const;
  const isLowered = (name: keyof typeof open) => earlier && earlier[name] !== open[name] && others[name] === open[name];
  const lowered = (['use', 'content_access'] as const).filter(isLowered);
  const lowers = lowered.map((name) => ({ what: `${name} of ${file_name}`, before: earlier?.[name] ?? '', after: open[name] }));
  const apply = async (mayLower: boolean, computationID: string) => {
    // A new asset takes over who may use and read the one before.
    const { use = usualUse(asset_type), content_access } = earlier ?? {};
    const before = { use, ...(content_access === undefined ? {} : { content_access }) };
    const kept = mayLower ? {} : Object.fromEntries(lowered.map((name) => [name, earlier?.[name]]));
    const fields = { file_name, asset_type, ...others, ...kept };
    if (earlier && (file === undefined || !isUpload)) {
      const { asset: _content, id, ...rest } = earlier;
      const changed = changedIn(earlier, fields);
      if (changed.length === 0) return done(id, `unchanged${stays(lowers, mayLower)}`);
      await client.updateAsset({ id, body: { asset: { id, ...rest, ...fields } }, ifMatch: linked.ifMatch });
      return done(id, `changed: ${changed.join(', ')}${stays(lowers, mayLower)}`);
    }
    const asset =
      file === undefined
        ? await client.createAsset({ body: { asset: { ...before, ...fields } } })
        : await upload(context, { ...before, ...fields, file });
    if (earlier) await client.unlinkAsset({ id: earlier.id, computationID });
    await client.linkAsset({ id: asset.id, computationID });
    const made = file === undefined ? 'created and linked' : 'uploaded and linked';
    const isClosed = others.use === undefined && asset.use === 'approval' ? '; runs need your approval' : '';
    const outcome = `${made}${earlier ? '; replaces the previous one' : isClosed}`;
    return done(asset.id, `${outcome}${stays(lowers, mayLower)}`);
  };
  return { isUpload, lowers, apply };
}

/** Finds the linked asset of the caller in whose place another one comes: the algorithm, or the dataset of the same name. */
export async function linkedAsset(
  { client, user }: Session,
  id: string,
  { file_name, asset_type }: Pick<Asset, 'file_name' | 'asset_type'>,
): Promise<{ before: Asset; ifMatch: string | undefined } | undefined> {
  const { assets } = await client.getComputation({ id });
  const found = assets.find(
    (each) => each.asset_type === asset_type && (asset_type === 'algorithm' || each.file_name === file_name),
  );
  if (!found) return undefined;
  const { isWhole, asset, etag } = await assetWithoutReading(client, { id: found.id, user });
  return isWhole && asset.created_by === user ? { before: asset, ifMatch: etag } : undefined;
}

/**
 * Names the linked assets of the caller that the file of `cms init` does not name: a run uses them all the same.
 * @param synced the identifiers of the assets that the file names
 */
export async function otherAssets({ command, client, user }: Session, id: string, synced: readonly string[]): Promise<Step[]> {
  const { assets } = await client.getComputation({ id });
  const steps: Step[] = [];
  for (const { id: asset, asset_type, file_name } of assets.filter((each) => !synced.includes(each.id))) {
    const { created_by } = (await assetWithoutReading(client, { id: asset, user })).asset;
    if (created_by !== user) continue;
    const outcome = `linked, but not in the file. To unlink it: ${command(`asset unlink ${asset} ${id}`)}`;
    steps.push({ subject: asset_type, name: file_name, outcome });
  }
  return steps;
}

/**
 * Plans to upload the public key of the caller, unless the computation has the key already.
 * @param id the identifier of the computation, if it exists
 */
export async function planKey(
  session: Session,
  id: string | undefined,
  { planned, key, fingerprint }: GivenKey & { planned: string },
): Promise<{ isUpload: boolean; apply: (computation: string) => Promise<Step> }> {
  const done = (outcome: string): Step => ({ subject: 'key', name: planned, outcome });
  const before = id === undefined ? undefined : await uploadedKey(session, id);
  const isUpload = before !== fingerprint;
  const apply = async (computation: string) => {
    if (!isUpload) return done('unchanged');
    await session.client.uploadKey({ id: computation, body: { key } });
    return done(before === undefined ? 'uploaded' : 'uploaded; replaces the previous key');
  };
  return { isUpload, apply };
}

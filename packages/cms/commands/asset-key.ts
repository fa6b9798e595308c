import { basename, resolve } from 'node:path';
import { Option } from 'commander';
import { assetWithoutReading, type Schemas } from 'computation-management-client';
import { attestationPolicy } from 'computation-management-formats/attestation';
import { hashOfBytes } from 'computation-management-formats/digests';
import { printable } from 'computation-management-formats/printable';
import { quotedName } from 'computation-management-formats/quoted-name';
import { sourceTypeOf } from 'computation-management-formats/source';
import type { AssetType } from 'computation-management-formats/vocabulary';
import { agoText, keyHolders, shellWord } from 'computation-management-words';
import * as v from 'valibot';
import { linkedAsset } from '../collaboration/sync.ts';
import { isOf, keepWithLogin } from '../context/computation-reference.ts';
import type { Context, Session } from '../context/context.ts';
import { keyFile } from '../context/missing-items.ts';
import { readFileKey } from '../files/encrypt-file.ts';
import { textOf } from '../files/read-file.ts';
import { expectFile } from '../files/transfers.ts';
import { errorOf, UsageError } from '../terminal/cms-error.ts';
import { details } from '../terminal/table.ts';
import { trustedKey } from './broker.ts';
import { readPolicy } from './computations.ts';
import { encryptedText, type EncryptOptions, encryptShown } from './encrypt.ts';
import { type AssetOptions, chosenComputation, chosenType, type CmsCommand, fieldsOf } from './options.ts';

type Holder = Schemas['AssetKey']['held'];

interface KeyOptions {
  keyHeld: Holder;
  releasePolicy?: string;
}

/** Adds the options that say who holds the key of an asset, and which CVMs may get it. */
const holderOptions = (command: CmsCommand, isRequired: boolean) =>
  command
    .addOption(
      new Option('--key-held <HOLDER>', 'who can open the key: you, with cms broker, or the operator')
        .choices(['party', 'service'])
        .makeOptionMandatory(isRequired),
    )
    .option('--release-policy <FILE>', 'which CVMs may get the key, beside the policy of the computation: YAML or JSON');

export function addAssetKeyCommands(asset: CmsCommand): void {
  const key = asset.subcommand('key', 'give an encrypted asset its key, which leaves only for the CVM of an approved run');

  const set = key.subcommand('set', 'give an asset its key, or change who holds the key or which CVMs may get it');
  holderOptions(set, true)
    .requiredOption('--key <FILE>', 'the file of the key, as cms encrypt writes it')
    .onAsset(async (context, id, { key: file, ...options }: KeyOptions & { key: string }) => {
      const { checksum } = (await assetWithoutReading(context.client, { id, user: context.user })).asset;
      const answer = await giveKey(context, { ...options, id, file, checksum: checksum ?? '' });
      context.print(answer, () => keyDetails(answer, context));
    });

  key.subcommand('show', 'show what the service knows of the key of an asset of yours').onAsset(async (context, id) => {
    const answer = await context.client.getAssetKey({ id });
    context.print(answer, () => keyDetails(answer, context));
  });

  key
    .subcommand('remove', 'take back the key of an asset: no later run starts with it, and cms broker releases it no more')
    .onAsset(async (context, id) => {
      await keepWithLogin(context, 'keys', id, undefined); // before: the broker stops, whatever the service answers
      await context.client.removeAssetKey({ id });
      context.print({ removed: id }, () => 'The asset has no key now. The file of the key stays where it is.\n');
    });
}

/** Gives an asset its key. A key that a party holds is kept on this machine for the broker, and only its hash is sent. */
async function giveKey(
  context: Session,
  { id, file, checksum, keyHeld, releasePolicy }: KeyOptions & { id: string; file: string; checksum: string },
): Promise<Schemas['AssetKey']> {
  const secret = await readFileKey(file);
  const policy =
    releasePolicy === undefined ? {} : { release_policy: readPolicy(await textOf(releasePolicy), releasePolicy, context) };
  if (keyHeld === 'service') {
    await keepWithLogin(context, 'keys', id, undefined);
    return await context.client.setAssetKey({ id, body: { held: 'service', key: secret.toString('base64'), ...policy } });
  }
  await trustedKey(context);
  const before = isOf(context, context.profile) ? context.profile.keys?.[id]?.release_policy : undefined;
  const release_policy = policy.release_policy ? v.parse(attestationPolicy, policy.release_policy) : (before ?? null);
  await keepWithLogin(context, 'keys', id, { file: resolve(file), checksum, release_policy });
  return await context.client.setAssetKey({ id, body: { held: 'party', fingerprint: hashOfBytes(secret), ...policy } });
}

function keyDetails(
  { number, fingerprint, held, release_policy, releases, last_released_at }: Schemas['AssetKey'],
  { terminal }: Context,
) {
  return details([
    ['Key', `${number}, SHA-256 ${fingerprint}`],
    ['Who can open it', keyHolders[held]],
    ['Which CVMs get it', `those of ${release_policy ? 'its own policy and that' : 'the policy'} of the computation`],
    ['Released', last_released_at === null ? 'never' : `${releases} times, last ${agoText(last_released_at, terminal.now())}`],
  ]);
}

/** The options of `cms asset add` that make an encrypted asset of a file on this machine. */
export interface AddEncryptedOptions extends EncryptOptions, Partial<KeyOptions>, AssetOptions {
  encrypt?: string;
}

export const addEncryptedOptions = (command: CmsCommand) =>
  holderOptions(command, false)
    .option('--encrypt <FILE>', 'encrypt this file, and add it: the address is where you will put the encrypted file')
    .encryptOptions();

/**
 * Encrypts a file, and adds it as an asset with its key: one that agents fetch from an address, or one that its creator sends to them. If the
 * command is cut off, it can be typed again: it goes on with the asset that it linked.
 * @param url the address of the encrypted file. Undefined: its creator sends it
 */
export async function addEncrypted(context: Context, url: string | undefined, file: string, options: AddEncryptedOptions) {
  const { keyHeld, releasePolicy, name = basename(file) } = options;
  if (keyHeld === undefined)
    throw new UsageError(
      'Choose who holds the key: --key-held party or --key-held service.',
      `${context.typed} --key-held party`,
    );
  await expectFile(file);
  const type = await chosenType(context, options.type, file);
  const session = await context.connect();
  const { client } = session;
  const computation = await chosenComputation(session, options.computation);
  if (releasePolicy !== undefined) readPolicy(await textOf(releasePolicy), releasePolicy, context);
  else await expectPolicy(session, computation);
  const encrypted = await encryptShown(context, file, options);
  const { key, checksum } = encrypted;
  const source = url === undefined ? {} : { source: { type: sourceTypeOf(url) ?? ('https' as const), url } };
  const earlier = computation === undefined ? undefined : await addedEarlier(session, computation, { name, type, checksum, url });
  const fields = { file_name: name, checksum, ...source, ...fieldsOf(options, type) };
  const { id, file_name } = earlier ?? (await client.createAsset({ body: { asset: fields } }));
  try {
    if (computation !== undefined && !earlier) await client.linkAsset({ id, computationID: computation });
    const held = { keyHeld, ...(releasePolicy !== undefined && { releasePolicy }) };
    const answer = await giveKey(session, { ...held, id, file: key, checksum });
    context.print(
      { id, ...encrypted, asset_key: answer },
      () => `${encryptedText(encrypted)}Added ${printable(file_name)} as ${id}\n${keyDetails(answer, context)}`,
    );
  } catch (error) {
    const again = context.command(`asset key set ${id} --key ${shellWord(key)} --key-held ${keyHeld}`);
    context.note(`The asset ${id} was added without its key. Fix that, then run: ${again}\n`);
    throw error;
  }
  const next = [
    ...(computation === undefined ? [`asset link ${id} COMPUTATION`] : []),
    ...(keyHeld === 'party' ? ['broker'] : []),
  ];
  const send = context.command(`send ${shellWord(encrypted.file)} --key ${keyFile}`);
  const put = url === undefined ? `Once a run waits: ${send}\n` : `Put ${printable(encrypted.file)} at ${printable(url)}.\n`;
  context.note(`${put}${next.length === 0 ? '' : `Next: ${next.map((each) => context.command(each)).join('\n      ')}\n`}`);
}

/** Throws if nothing says which CVMs may get the key of an asset that has no policy of its own: the service would refuse the key. */
async function expectPolicy({ client, typed }: Session, computation: string | undefined): Promise<void> {
  if (computation !== undefined && (await client.getComputation({ id: computation })).attestation_policy !== null) return;
  const other =
    computation === undefined ? 'name a computation that has a policy' : 'have its owner give the computation a policy';
  const message = `Nothing says which CVMs may get the key. Give the key a policy of its own, or ${other}.`;
  throw errorOf('conflict', message, `${typed} --release-policy FILE`);
}

/** Returns the asset of the caller that an earlier try added and linked. @throws CmsError if another one has its place */
async function addedEarlier(
  session: Session,
  computation: string,
  { name, type, checksum, url }: { name: string; type: AssetType; checksum: string; url: string | undefined },
): Promise<Schemas['Asset'] | undefined> {
  const before = (await linkedAsset(session, computation, { file_name: name, asset_type: type }))?.before;
  if (!before || (before.file_name === name && before.checksum === checksum && (before.source?.url ?? undefined) === url))
    return before;
  const message = `The computation has another ${type} ${quotedName(before.file_name)} of yours. Unlink it first.`;
  throw errorOf('conflict', message, session.command(`asset unlink ${before.id} ${computation}`));
}

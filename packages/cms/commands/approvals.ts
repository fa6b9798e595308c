import { constants, createPublicKey, type KeyObject, randomUUID, sign } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { causeOf, type Schemas, wholeAnswer } from 'computation-management-client';
import { type Approved, approvalText, type Limits, limitsOf } from 'computation-management-formats/consent';
import { printable } from 'computation-management-formats/printable';
import { plainName, quotedName } from 'computation-management-formats/quoted-name';
import { fingerprintOfSpki } from 'computation-management-formats/ssh-wire';
import { agoText, approvalRows, readJournalHead, shellWord, userText } from 'computation-management-words';
import { keepWithLogin, named, uploadedKey } from '../context/computation-reference.ts';
import { confirm, type Context, type Session } from '../context/context.ts';
import { formatCoverage, coverageOf, staleApprovals, staleText } from '../context/coverage.ts';
import { noteLikeCvms } from '../context/find-by-name.ts';
import { approvalOf, keyFile } from '../context/missing-items.ts';
import { publicKeyBeside, readPrivateKey } from '../files/key-files.ts';
import { CmsError, errorOf, UsageError } from '../terminal/cms-error.ts';
import { table } from '../terminal/table.ts';
import { hanging, shellPath } from '../terminal/text.ts';
import { type CmsCommand, given, laterTime, type LaterTime, wholeNumber } from './options.ts';

interface Options {
  sign?: string;
  cvm?: string[];
  expires?: LaterTime;
  runs?: number;
  digest?: string;
  configuration?: string;
  yes?: boolean;
}

export function addApprovalCommands(program: CmsCommand): void {
  program
    .subcommand('approve', 'approve the manifest of a computation, after showing it')
    .option('--sign <FILE>', 'sign with this private key; you must have uploaded its public key')
    .repeatable('--cvm <CVM>', 'only for runs on this CVM')
    .option('--expires <WHEN>', 'only for runs that start before this time, such as 7d or 2026-12-31T12:00:00Z', laterTime)
    .option('--runs <COUNT>', 'only for so many runs, up to 1000', wholeNumber(1))
    .option('--digest <DIGEST>', 'approve only a manifest with this digest; with --configuration too, without asking')
    .option('--configuration <DIGEST>', 'approve only a configuration with this digest')
    .option('--yes', 'do not ask')
    .onComputation(async (context, id, options: Options) => {
      const { client, domain, user } = context;
      const areGiven = options.digest !== undefined && options.configuration !== undefined;
      if (context.isJson && !areGiven && options.yes !== true) {
        throw new UsageError(
          'With --json, nothing is shown. Read the manifest and the configuration, then add --digest DIGEST --configuration DIGEST. To approve them unread, add --yes.',
          context.command(`manifest ${id}`),
        );
      }
      const { data: computation, now } = wholeAnswer(await client.call('getComputation', { id }));
      const journal_head = await readJournalHead(client, id);
      const counted = options.runs === undefined ? {} : { max_runs: options.runs, approval_id: randomUUID() };
      const limits = limitsOf({ cvm_ids: options.cvm, expires_at: options.expires?.(now), ...counted, journal_head });
      const covered = await coverageOf(context, { id, computation });
      const { manifest_digest, configuration_digest } = covered;
      for (const [option, current] of Object.entries({ digest: manifest_digest, configuration: configuration_digest })) {
        if ((options[option as 'digest' | 'configuration']?.toLowerCase() ?? current) === current) continue;
        const message = `--${option} is not the current digest: what it stands for has changed since you read it, or the digest is mistyped. Nothing was approved.`;
        throw errorOf('conflict', message, context.command(`check${named(context, id)}`));
      }
      for (const cvm of options.cvm ?? []) await noteLikeCvms(context, cvm);
      const approved = { domain, computation: id, approver: user, manifest_digest, configuration_digest, ...limits };
      const key = options.sign === undefined ? undefined : await readPrivateKey(options.sign, context.terminal);
      const signed = key && signApproval(key, approved);
      const isUnsigned = !signed && computation.approval === 'all_signed';
      if (signed || isUnsigned) await expectOwnKey(context, id, { ...options, fingerprint: signed?.fingerprint });
      if (!context.isJson) {
        const stale = await staleApprovals(context, id, (each) => each.user === user);
        context.note(`${formatCoverage(covered, context.terminal, { computation, you: user, limits, stale })}\n`);
      }
      const last = (await client.listApprovals({ id })).approvals.find((approval) => approval.user === user);
      const [before, chosen] = [last ? limitsText(limitsOf(last)) : '', limitsText(limits)];
      if (before !== '' && before !== chosen)
        context.note(`Your last approval was${before.slice(1)}. This one is${chosen.slice(1) || ' without a limit'}.\n`);
      if (!areGiven && options.yes !== true) {
        await confirm(context, `Approve runs with this manifest and this configuration${limitsText(limits)}?`);
      }
      const body = { digest: manifest_digest, configuration_digest, ...limits, ...given({ signature: signed?.signature }) };
      const approval = await client.approve({ id, body });
      const needed = computation.approval === 'none' ? {} : { needed: partiesOf(covered) };
      const { journal_head: _, ...kept } = { ...limits, ...needed, ...(signed && { key: signed.key }) };
      const { configuration } = covered;
      await keepWithLogin(context, 'approved', id, { manifest_digest, configuration_digest, configuration, ...kept });
      const copy = signed && (await keepCopy(context, id, signed));
      const how = `${approval.signed ? ', signed' : ''}${limitsText(limitsOf(approval))}`;
      const said = `${userText(approval.user)} has approved the manifest ${manifest_digest.slice(0, 12)}…${how}.\n`;
      const keptCopy = copy === undefined ? '' : `Your signed copy is ${shellPath(copy, context.terminal.home)}.\n`;
      context.print({ ...approval, ...given({ signed_copy: copy }) }, () => said + keptCopy);
      const changed = 'the key or the configuration has changed since';
      const why = options.expires === undefined ? changed : 'perhaps it has expired, by the clock of the service';
      if (approval.stale) context.note(`The approval does not count: ${why}.\n`);
      context.note(`Next: ${context.command(`${approval.stale ? 'approvals' : 'check'}${named(context, id)}`)}\n`);
    });

  program.subcommand('approvals', 'list whose approval a run needs, and who has given it').onComputation(async (context, id) => {
    const answer = await context.client.listApprovals({ id });
    const rows = approvalRows(answer);
    const items = rows.map(({ user, because, approval = null }) => ({ user, because, approval }));
    const { now } = context.terminal;
    const stale = context.isJson ? [] : await staleApprovals(context, id);
    const refusals = answer.refusals
      .map(({ user, reason }) => printable(`Refusal of ${userText(user)}: ${quotedName(reason)}`))
      .map((line) => `${hanging(line, context.terminal.columns)}\n`);
    context.print({ items, refusals: answer.refusals }, () =>
      items.length + refusals.length === 0
        ? 'No run needs an approval, and nobody has given one.\n'
        : table(
            rows,
            [
              { title: 'user', value: ({ user }) => userText(user) },
              { title: 'needed for', value: ({ because }) => because.map(plainReason).join(', '), cuts: true },
              { title: 'approval', value: ({ state }) => state },
              { title: 'approved', value: ({ approval }) => (approval ? agoText(approval.approved_at, now()) : '') },
              { title: 'runs', value: ({ approval }) => runsText(approval) },
              { title: 'only on', value: ({ approval }) => approval?.cvm_ids?.join(', ') ?? '', cuts: true },
            ],
            context.terminal,
          ) +
          refusals.join('') +
          staleText(stale),
    );
  });

  program
    .subcommand('refuse', 'refuse to approve, with a reason that every party reads; it takes the place of your approval')
    .requiredOption('--reason <REASON>', 'why, in your words')
    .onComputation(async (context, id, { reason }: { reason: string }) => {
      await keepWithLogin(context, 'approved', id, undefined); // before: the broker stops, whatever the service answers
      const refusal = await context.client.approve({ id, body: { decision: 'refuse', reason } });
      context.print(refusal, () => `You refuse, and every party can read why: ${quotedName(refusal.reason)}\n`);
      context.note(`To take it back, approve, or type: ${context.command(`withdraw${named(context, id)}`)}\n`);
    });

  program
    .subcommand('withdraw', 'withdraw your approval or your refusal; active runs continue')
    .option('--yes', 'do not ask')
    .onComputation(async (context, id, { yes }: { yes?: boolean }) => {
      if (yes !== true) {
        const { name } = await context.client.getComputation({ id, peek: 'true' });
        await confirm(context, `Withdraw your approval of ${plainName(name)}? No later run uses it.`);
      }
      await keepWithLogin(context, 'approved', id, undefined); // before: the broker stops, whatever the service answers
      await context.client.withdrawApproval({ id });
      context.print({ withdrawn: id }, () => 'You have no approval on this computation now.\n');
    });
}

/** Returns the users who bring the files, receive the results or review them, as far as the service names them. */
const partiesOf = ({ files, receivers, configuration }: Awaited<ReturnType<typeof coverageOf>>) => {
  const named = receivers.flatMap(({ users }) => (users?.length === 1 ? users : []));
  const { consumers = [], reviewers = [] } = configuration.result_review ?? {};
  return [...new Set([...files.flatMap(({ asset }) => asset?.created_by ?? []), ...named, ...consumers, ...reviewers])];
};

/** Says how many runs have used an approval, such as `1 of 3`. Empty for one without a limit. */
const runsText = (approval: Pick<Schemas['Approval'], 'used_runs' | 'max_runs'> | undefined) =>
  approval?.max_runs == null ? '' : `${approval.used_runs ?? 0} of ${approval.max_runs}`;

/** Returns the reason why an approval is needed as a plain word or in quotes: `result consumer`, `reviewer`, or the name of a file. */
export const plainReason = (reason: string) => (reason === 'result consumer' ? reason : plainName(reason));

/**
 * Checks that a user signs an approval with the key that the user uploaded to the computation, before anything is sent.
 * @throws CmsError if the user uploaded another key or none, or did not sign
 */
async function expectOwnKey(
  context: Session,
  id: string,
  { sign, fingerprint }: { sign?: string; fingerprint: string | undefined },
): Promise<void> {
  const uploaded = await uploadedKey(context, id);
  const beside = sign === undefined ? undefined : publicKeyBeside(sign);
  const file = beside === undefined ? `${keyFile}.pub` : shellWord(beside);
  if (uploaded === undefined) {
    const message = 'You have uploaded no key to this computation. Upload the public key that belongs to your signing key.';
    throw new CmsError(message, { next: context.command(`key upload ${file}${named(context, id)}`) });
  }
  if (fingerprint === undefined) {
    const message = `This computation takes signed approvals only. You uploaded ${uploaded}: sign with its private key.`;
    throw new UsageError(message, `${context.typed} --sign ${keyFile}`);
  }
  if (fingerprint === uploaded) return;
  const message = `This key is ${fingerprint}. You uploaded ${uploaded}. Sign with the private key of that one. Nothing was sent.`;
  throw new UsageError(message, context.command(approvalOf(id, true)));
}

/** A signed approval: the text, its signature in base64, and the public key of the signer, base64 of DER. */
type SignedApproval = ReturnType<typeof signText>;

/** Saves a signed approval in a new file beside the profiles. Returns the path of the file. Undefined, with a note, if it cannot be saved. */
async function keepCopy(context: Context, id: string, signed: SignedApproval): Promise<string | undefined> {
  const folder = join(dirname(context.profiles.file), 'approvals');
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    let file = join(folder, `${id}.json`);
    for (let number = 2; existsSync(file); number += 1) file = join(folder, `${id}-${number}.json`);
    await writeFile(file, `${JSON.stringify(signed, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
    return file;
  } catch (error) {
    context.note(`Your signed copy could not be saved: ${printable(causeOf(error))}\n`);
    return undefined;
  }
}

/**
 * Signs an approval (docs/contract.md, section 9): Ed25519; ECDSA with SHA-256, in DER; RSA-PSS with SHA-256 and a salt of 32 bytes.
 * @throws CmsError for another type of key
 */
export const signApproval = (key: KeyObject, approved: Approved) => signText(key, approvalText(approved));

/** Signs a text as `signApproval` does. */
export function signText(key: KeyObject, text: string) {
  const signature = signed(key, Buffer.from(text)).toString('base64');
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return { text, signature, key: spki.toString('base64'), fingerprint: fingerprintOfSpki(spki) };
}

function signed(key: KeyObject, text: Buffer): Buffer {
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return sign(null, text, key);
    case 'ec':
      return sign('sha256', text, { key, dsaEncoding: 'der' });
    case 'rsa':
      return sign('sha256', text, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 });
    default:
      throw new UsageError(`A key of the type ${String(key.asymmetricKeyType)} cannot sign. Expected Ed25519, EC or RSA.`);
  }
}

/**
 * Says what limits an approval, such as `, only on cvm-1, cvm-2, only until 2026-12-31T12:00:00.000Z`. Empty for an approval without
 * limits.
 */
function limitsText({ cvm_ids, expires_at, max_runs }: Limits): string {
  const runs = max_runs === undefined ? '' : `, only for ${max_runs === 1 ? 'one run' : `${max_runs} runs`}`;
  return `${cvm_ids?.length ? `, only on ${cvm_ids.join(', ')}` : ''}${expires_at ? `, only until ${expires_at}` : ''}${runs}`;
}

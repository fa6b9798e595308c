import { constants, type KeyObject, sign } from 'node:crypto';
import { ServiceProblem, wholeAnswer } from 'computation-management-client';
import { type Approved, approvalText, type Limits, limitsOf } from 'computation-management-formats/approval-text';
import { plainName } from 'computation-management-formats/quoted-name';
import { agoText, approvalRows, readJournalHead, shellWord, userText } from 'computation-management-words';
import { named, recordApproval } from '../context/computation-reference.ts';
import { confirm } from '../context/context.ts';
import { formatCoverage, coverageOf, whyStale } from '../context/coverage.ts';
import { noteLikeCvms } from '../context/find-by-name.ts';
import { keyFile } from '../context/missing-items.ts';
import { publicKeyBeside, readPrivateKey } from '../files/key-files.ts';
import { CmsError, exitCodes, UsageError } from '../terminal/cms-error.ts';
import { table } from '../terminal/table.ts';
import { type CmsCommand, collect, laterTime, type LaterTime } from './options.ts';

interface Options {
  sign?: string;
  cvm?: string[];
  expires?: LaterTime;
  digest?: string;
  configuration?: string;
  yes?: boolean;
}

export function addApprovalCommands(program: CmsCommand): void {
  program
    .subcommand('approve', 'approve the manifest of a computation, after showing it')
    .option('--sign <FILE>', 'sign with this private key; you must have uploaded its public key')
    .option('--cvm <CVM>', 'only for runs on this CVM (repeatable)', collect)
    .option('--expires <WHEN>', 'only for runs that start before this time, such as 7d or 2026-12-31T12:00:00Z', laterTime)
    .option('--digest <DIGEST>', 'approve only a manifest with this digest; with --configuration too, without asking')
    .option('--configuration <DIGEST>', 'approve only a configuration with this digest')
    .option('--yes', 'do not ask')
    .onComputation(async (context, connection, id, options: Options) => {
      const { client, domain, user } = connection;
      const areGiven = options.digest !== undefined && options.configuration !== undefined;
      if (context.isJson && !areGiven && options.yes !== true) {
        throw new UsageError(
          'With --json, nothing is shown. Read the manifest and the configuration, then add --digest DIGEST --configuration DIGEST. To approve them unread, add --yes.',
          context.command(`manifest ${id}`),
        );
      }
      const { data: computation, now } = wholeAnswer(await client.call('getComputation', { id }));
      const journal_head = await readJournalHead(client, id);
      const limits = limitsOf({ cvm_ids: options.cvm, expires_at: options.expires?.(now), journal_head });
      const covered = await coverageOf(context, connection, { id, computation });
      const { manifest_digest, configuration_digest } = covered;
      for (const [option, given, current] of [
        ['--digest', options.digest, manifest_digest],
        ['--configuration', options.configuration, configuration_digest],
      ] as const) {
        if (given === undefined || given.toLowerCase() === current) continue;
        throw new CmsError(`${option} is not the current digest, which is ${current}.`, {
          next: context.command(`manifest${named(context, connection, id)}`),
          exitCode: exitCodes.conflict,
        });
      }
      for (const cvm of options.cvm ?? []) await noteLikeCvms(context, connection, cvm);
      const key = options.sign === undefined ? undefined : await readPrivateKey(options.sign, context.terminal);
      if (!context.isJson) {
        const changes = await whyStale(context, connection, id, (given) => given.user === user);
        context.note(`${formatCoverage(covered, context.terminal, limits)}\n${changes}`);
      }
      if (!areGiven && options.yes !== true) {
        await confirm(context, `Approve runs with this manifest and this configuration${limitsText(limits)}?`);
      }
      const noKey = (cause: unknown) =>
        new CmsError('You have uploaded no key to this computation. Upload the public key that belongs to your signing key.', {
          next: context.command(`key upload ${uploadedWith(options.sign)}${named(context, connection, id)}`),
          cause,
        });
      const approved = { domain, computation: id, approver: user, manifest_digest, configuration_digest, ...limits };
      const signature = key && signApproval(key, approved);
      const body = { digest: manifest_digest, configuration_digest, ...limits, ...(signature ? { signature } : {}) };
      const approval = await client.approve({ id, body }).catch(async (error: unknown) => {
        throw isOfSignature(error) && !(await client.checkKey({ id })).uploaded ? noKey(error) : error;
      });
      await recordApproval(context, connection, id, { manifest_digest, configuration_digest, ...limits });
      context.print(
        approval,
        () =>
          `${userText(approval.user)} has approved the manifest ${manifest_digest.slice(0, 12)}…${approval.signed ? ', signed' : ''}${limitsText(limitsOf(approval))}.\n`,
      );
      if (!approval.stale) context.note(`Next: ${context.command(`check${named(context, connection, id)}`)}\n`);
      else {
        const why =
          options.expires === undefined
            ? 'the key or the configuration has changed since'
            : 'perhaps it has expired, by the clock of the service';
        context.note(
          `The approval does not count: ${why}.\nNext: ${context.command(`approvals${named(context, connection, id)}`)}\n`,
        );
      }
    });

  program
    .subcommand('approvals', 'list whose approval a run needs, and who has given it')
    .onComputation(async (context, connection, id) => {
      const answer = await connection.client.listApprovals({ id });
      const rows = approvalRows(answer);
      const items = rows.map(({ user, because, approval = null }) => ({ user, because, approval }));
      const { now } = context.terminal;
      const stale = context.isJson ? '' : await whyStale(context, connection, id);
      context.print({ items }, () =>
        items.length === 0
          ? 'No run needs an approval, and nobody has given one.\n'
          : table(
              rows,
              [
                { title: 'user', value: ({ user }) => userText(user) },
                { title: 'needed for', value: ({ because }) => because.map(plainReason).join(', '), cuts: true },
                { title: 'approval', value: ({ state }) => state },
                { title: 'approved', value: ({ approval }) => (approval ? agoText(approval.approved_at, now()) : '') },
                { title: 'only on', value: ({ approval }) => approval?.cvm_ids?.join(', ') ?? '', cuts: true },
              ],
              context.terminal,
            ) + stale,
      );
    });

  program
    .subcommand('withdraw', 'withdraw your approval; active runs continue')
    .option('--yes', 'do not ask')
    .onComputation(async (context, connection, id, { yes }: { yes?: boolean }) => {
      if (yes !== true) {
        const { name } = await connection.client.getComputation({ id, peek: 'true' });
        await confirm(context, `Withdraw your approval of ${plainName(name)}? No later run uses it.`);
      }
      await connection.client.withdrawApproval({ id });
      await recordApproval(context, connection, id, undefined);
      context.print({ withdrawn: id }, () => 'You have no approval on this computation now.\n');
    });
}

/** Returns the reason why an approval is needed as a plain word or in quotes: `result consumer`, or the name of a file. */
export const plainReason = (reason: string) => (reason === 'result consumer' ? reason : plainName(reason));

/**
 * Returns the path of the public key that belongs to a private key with which the user signs, for the command that uploads it. KEYFILE.pub
 * stands for an unknown path.
 */
function uploadedWith(privateKey: string | undefined): string {
  const file = privateKey === undefined ? undefined : publicKeyBeside(privateKey);
  return file === undefined ? `${keyFile}.pub` : shellWord(file);
}

function isOfSignature(error: unknown): boolean {
  return error instanceof ServiceProblem && error.errors.some(({ pointer }) => pointer === '/signature');
}

/**
 * Signs an approval (docs/contract.md, section 9): Ed25519; ECDSA with SHA-256, in DER; RSA-PSS with SHA-256 and a salt of 32 bytes.
 * @returns base64
 * @throws CmsError for another type of key
 */
export function signApproval(key: KeyObject, approved: Approved): string {
  return signed(key, Buffer.from(approvalText(approved))).toString('base64');
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
      throw new UsageError(
        `A key of the type ${String(key.asymmetricKeyType)} cannot sign approvals. Expected Ed25519, EC or RSA.`,
      );
  }
}

/**
 * Says what limits an approval, such as `, only on cvm-1, cvm-2, only until 2026-12-31T12:00:00.000Z`. Empty for an approval without
 * limits.
 */
function limitsText({ cvm_ids, expires_at }: Limits): string {
  return `${cvm_ids?.length ? `, only on ${cvm_ids.join(', ')}` : ''}${expires_at ? `, only until ${expires_at}` : ''}`;
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findRows } from 'computation-management-client';
import { shellWord, userText } from 'computation-management-words';
import { confirm } from '../context/context.ts';
import { computationId, keepWithLogin, named } from '../context/computation-reference.ts';
import { usualCollaboration } from '../collaboration/collaboration.ts';
import { makeKeyPair, readPublicKey } from '../files/key-files.ts';
import { keyFile } from '../context/missing-items.ts';
import { ownedText, tellChanged } from '../context/find-by-name.ts';
import type { CmsCommand } from './options.ts';

export function addKeyCommands(program: CmsCommand): void {
  const key = program.subcommand('key', 'make keys, and give a computation your public key or take it back');

  key
    .subcommand('create', 'make a pair of keys, private and public, on this machine')
    .argument('[FILE]', 'the file of the private key; FILE.pub becomes the public key (default: ~/.ssh/id_ed25519)')
    .does(async (context, given: string | undefined) => {
      const file = given ?? join(context.terminal.home, '.ssh/id_ed25519');
      const made = await makeKeyPair(file);
      const { fingerprint } = await readPublicKey(made);
      const shown = `Made the private key ${file}, which only you can read, and the public key ${made}.\n  ${fingerprint}\n`;
      context.print({ private_key: file, public_key: made, fingerprint }, () => shown);
      const next = existsSync(usualCollaboration) ? `init ${usualCollaboration}` : `key add ${shellWord(made)}`;
      context.note(
        `Keep the private key to yourself: it signs for you, and has no passphrase.\nNext: ${context.command(next)}\n`,
      );
    });

  key
    .subcommand('upload', 'upload your public key to a computation')
    .argument('<FILE>', 'an OpenSSH key such as ~/.ssh/id_ed25519.pub, or PEM or DER')
    .argument('[COMPUTATION]', 'its identifier or name')
    .does(async (context, file: string, reference: string | undefined) => {
      const retyped = (other: string) =>
        context.command(`key upload ${[other, ...(reference === undefined ? [] : [reference])].map(shellWord).join(' ')}`);
      const { key } = await readPublicKey(file, retyped);
      const session = await context.connect();
      const id = await computationId(session, reference);
      const answer = await session.client.uploadKey({ id, body: { key } });
      context.print(answer, () => `Uploaded ${file} as the key of ${userText(session.user)}.\n`);
    });

  key
    .subcommand('add', 'upload your public key to every computation that waits for it')
    .argument('<FILE>', 'as for cms key upload')
    .option('--yes', 'do not ask')
    .does(async (context, file: string, options: { yes?: boolean }) => {
      const { key, fingerprint } = await readPublicKey(file, (other) => context.command(`key add ${shellWord(other)}`));
      const { client } = await context.connect();
      const { keys, totals } = await client.getTodo();
      const ids = keys.map(({ computation_id }) => computation_id);
      const rows = await findRows(client, 'listComputations', ids);
      const found = keys.filter(({ computation_id }) => rows.has(computation_id)); // the others were deleted meanwhile
      for (const row of rows.values()) tellChanged(context, 'computation', () => Promise.resolve(row));
      const list = [...rows.values()].map((row) => `  ${ownedText(row)}\n`).join('');
      if (found.length > 0 && options.yes !== true) {
        context.note(list);
        await confirm(context, `Upload ${fingerprint} to ${found.length === 1 ? 'this computation' : `these ${found.length}`}?`);
      }
      for (const { computation_id: id } of found) await client.uploadKey({ id, body: { key } });
      context.print({ items: found }, () =>
        found.length === 0 ? 'No computation waits for your key.\n' : `Uploaded ${fingerprint} to:\n${list}`,
      );
      const left = totals.keys - keys.length;
      if (left > 0) context.note(`${left} more wait.\nNext: ${context.typed}\n`);
      else if (totals.invitations > 0)
        context.note(`Invitations to you: ${totals.invitations}.\nNext: ${context.command('todo')}\n`);
    });

  key
    .subcommand('remove', 'remove your public key, and your approval with it; active runs keep their manifest')
    .option('--user <USER>', 'the key of this user: only the owner and administrators can')
    .onComputation(async (context, id, { user }: { user?: string }) => {
      // Before: the broker stops, whatever the service answers.
      if ((user ?? context.user) === context.user) await keepWithLogin(context, 'approved', id, undefined);
      await context.client.removeKey({ id, user });
      const whose = user === undefined ? 'You have' : `${userText(user)} has`;
      context.print({ computation: id, removed: user ?? context.user }, () => `${whose} no key on this computation now.\n`);
    });

  key.subcommand('show', 'show whether your key is uploaded').onComputation(async (context, id) => {
    const answer = await context.client.checkKey({ id });
    context.print(answer, () => (answer.uploaded ? 'Your key is uploaded.\n' : 'You have uploaded no key.\n'));
    if (answer.uploaded) return;
    context.note(`Next: ${context.command(`key upload ${keyFile}.pub${named(context, id)}`)}\n`);
  });
}

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { items, tokensOfEvidence } from 'computation-management-client';
import {
  archiveIn,
  checkEvidence,
  exitCodeOf,
  formatFindings,
  keysOfArchive,
  UnreadableError,
} from 'computation-management-verify';
import { checkEvidenceByTestRoots } from 'computation-management-verify/test-roots';
import { shellWord } from 'computation-management-words';
import type { Context } from '../context/context.ts';
import { UsageError } from '../terminal/cms-error.ts';
import { readBytes, textOf, filesBeside, materialFrom, type Material } from '../files/read-file.ts';
import { evidenceFiles, savedRun, saveEvidence, saveToken, tokenEnding, tokenFile } from '../files/saved-evidence.ts';
import { type CmsCommand, collect } from './options.ts';

/** The default directory of `cms evidence` and `cms verify`. */
const defaultDirectory = 'evidence';

interface EvidenceOptions {
  run?: string;
  output: string;
  verify?: boolean;
}

export function addEvidenceCommands(program: CmsCommand): void {
  program
    .subcommand('evidence', 'save the signed statement about a run, the keys, and the events')
    .option('--run <RUN>', 'the run (default: the latest)')
    .option('--output <DIR>', 'where to save the files', defaultDirectory)
    .option('--verify', 'check them too, as cms verify does')
    .onComputation(async (context, { client }, id, options: EvidenceOptions) => {
      const run = options.run ?? (await client.getRun({ id })).id;
      const before = await savedRun(options.output);
      if (before !== undefined && before !== run) {
        const next = `evidence ${id} --run ${shellWord(run)} --output ${shellWord(`evidence-${run}`)}`;
        const found = before === '' ? `an ${evidenceFiles.evidence} that cannot be read` : `the evidence of the run ${before}`;
        throw new UsageError(`${options.output} already contains ${found}.`, context.command(next));
      }
      const evidence = await client.getEvidence({ id, run });
      const keys = await client.jwks();
      const events = [];
      for await (const event of items(client, 'listEvents', { id })) events.push(event);
      await saveEvidence(options.output, { evidence, keys, events: { events } });
      const tokens = tokensOfEvidence(evidence, await client.getAttestation({ id, run }));
      for (const token of tokens) await saveToken(options.output, token);
      const files = [...Object.values(evidenceFiles), ...tokens.map(tokenFile)];
      if (options.verify === true) {
        context.note(`Saved ${files.join(', ')} in ${options.output}.\n`);
        await verify(context, options.output, {});
        return;
      }
      context.print({ run, directory: options.output, files }, () => `Saved ${files.join(', ')} in ${options.output}.\n`);
      context.note(`Next: cms verify ${shellWord(options.output)}\n`);
    });

  program
    .subcommand('verify', 'check saved evidence, without the service')
    .argument('[PATH]', 'the directory of cms evidence, the file that the console saves, or a statement', defaultDirectory)
    .option('--keys <FILE>', 'the public keys that you trust (default: keys.json in the directory)')
    .option('--events <FILE>', 'a page of events (repeatable; default: events.json in the directory)', collect)
    .option('--token <FILE>', 'an attestation token (repeatable; default: those in the directory)', collect)
    .materialOptions()
    .does(async (context, path: string, options: VerifyFiles) => {
      await verify(context, path, options);
    });
}

/** Verifies saved evidence of a run and prints which facts hold. Sets the exit code 1 if a fact does not hold, 3 if one was not checked. */
async function verify(context: Context, path: string, options: VerifyFiles): Promise<void> {
  const findings = [...(await findingsIn(path, options)), ...(options.keys === undefined ? [keysOfArchive] : [])];
  const exitCode = exitCodeOf(findings);
  context.print({ items: findings, holds: exitCode === 0 }, () => formatFindings(findings));
  context.exitWith(exitCode);
}

async function findingsIn(path: string, options: VerifyFiles) {
  try {
    const files = await readEvidence(path, options);
    const roots = options.root && (await Promise.all(options.root.map(readBytes)));
    return await (roots ? checkEvidenceByTestRoots(files, roots) : checkEvidence(files));
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    const message = error.message.replace(/ is not JSON: .*/s, ' is not JSON: expected a file that cms or the console saved.');
    throw new UsageError(message, filesBeside(path));
  }
}

interface VerifyFiles extends Material {
  keys?: string;
  events?: string[];
  token?: string[];
}

/** Reads the files that `cms evidence` saved in a directory, or the files that the options of `cms verify` name. */
async function readEvidence(path: string, options: VerifyFiles) {
  const found = await stat(path).catch(() => undefined);
  if (!found) {
    throw new UsageError(
      `There is no ${JSON.stringify(path)} here.`,
      path === defaultDirectory ? 'cms evidence' : filesBeside(path),
    );
  }
  const isDirectory = found.isDirectory();
  const archive = isDirectory ? undefined : archiveIn(await textOf(path));
  if (archive) {
    const { keys: trusted, events: pages, token } = options;
    return {
      ...archive,
      ...(trusted !== undefined && { keys: await textOf(trusted) }),
      ...(pages && { events: await Promise.all(pages.map(textOf)) }),
      ...(token && { tokens: await Promise.all(token.map(readBytes)) }),
      ...(await materialFrom(options)),
    };
  }
  const there = isDirectory ? await readdir(path) : [];
  const inDirectory = (name: keyof typeof evidenceFiles) =>
    there.includes(evidenceFiles[name]) ? join(path, evidenceFiles[name]) : undefined;
  const keys = options.keys ?? inDirectory('keys');
  if (keys === undefined) {
    throw new UsageError('The public keys are missing.', `cms verify ${shellWord(path)} --keys FILE`);
  }
  const events = options.events ?? [inDirectory('events')].filter((file) => file !== undefined);
  const tokens = options.token ?? there.filter((name) => name.endsWith(tokenEnding)).map((name) => join(path, name));
  return {
    evidence: await textOf(isDirectory ? join(path, evidenceFiles.evidence) : path),
    keys: await textOf(keys),
    ...(events.length > 0 ? { events: await Promise.all(events.map(textOf)) } : {}),
    tokens: await Promise.all(tokens.map(readBytes)),
    ...(await materialFrom(options)),
  };
}

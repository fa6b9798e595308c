import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openTerminal, type Typed } from './open-terminal.ts';

const repository = join(import.meta.dirname, '../../..');

type Party = 'alice' | 'bob';

/** The commands of two parties, each in a terminal of their own, from nothing to a checked run. */
export const story: readonly (readonly [Party, string])[] = [
  ['alice', 'cms login --local --user alice --role creator'],
  ['bob', 'cms login --local --user bob --role dataset_provider'],
  ['alice', 'cms init collaboration.yaml --yes'],
  ['bob', 'cms init collaboration.yaml --yes'],
  ['bob', 'cms approve --sign id_ed25519 --yes'],
  ['alice', 'cms approve --sign ~/.ssh/id_ed25519 --yes'],
  ['alice', 'cms run --cvm sim-1 --watch'],
  ['bob', 'cms evidence --verify'],
];

/** A command of the story with what came of it. */
export interface Scene extends Typed {
  who: Party;
  line: string;
}

/** Returns what docs/command-line.md tells a party to type before the story. */
function preparationOf(party: Party): string {
  const [guide = ''] = readFileSync(join(repository, 'docs/command-line.md'), 'utf8').split('<!-- transcript:begin -->');
  const blocks = [...guide.matchAll(/^```sh\n(.*?)^```/gms)].map(([, lines = '']) => lines);
  const [lines, ...others] = blocks.filter((block) => block.includes(`CMS_PROFILE=${party}\n`));
  if (lines === undefined || others.length > 0) throw new Error(`The guide has not one block for ${party}.`);
  return lines;
}

/**
 * Plays the story at a service with simulated CVMs: two terminals of one user, as someone has who tries it.
 * @param folder where the user has a home and the repository
 * @param cms the file of `cms`, and the Node that runs it. Default: that of the repository, and of this process
 */
export async function playStory(
  server: string,
  folder: string,
  { program, node } = { program: join(repository, 'packages/cms/cms.ts'), node: process.execPath },
): Promise<Scene[]> {
  const [home, clone, programs] = ['home', 'home/clone', 'bin'].map((name) => join(folder, name)) as [string, string, string];
  for (const each of [home, clone, programs]) mkdirSync(each, { recursive: true });
  symlinkSync(join(repository, 'tools'), join(clone, 'tools'));
  writeFileSync(join(programs, 'cms'), `#!/bin/sh\nexec '${node}' '${program}' "$@"\n`, { mode: 0o755 });
  writeFileSync(join(programs, 'npx'), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
  const open = () => openTerminal({ folder: clone, programs, home, server });
  const terminals = { alice: open(), bob: open() };
  try {
    for (const party of ['alice', 'bob'] as const) {
      const { exitCode, output } = await terminals[party].type(preparationOf(party));
      if (exitCode !== 0) throw new Error(output);
    }
    const scenes: Scene[] = [];
    for (const [who, line] of story) scenes.push({ who, line, ...(await terminals[who].type(line)) });
    return scenes;
  } finally {
    for (const { close } of Object.values(terminals)) close();
  }
}

/** The scenes that ended with an error. */
export function failedScenes(scenes: readonly Scene[]): Scene[] {
  return scenes.filter(({ exitCode }) => exitCode !== 0);
}

/** Formats the story as its two terminals show it. @param server replaced by the usual address of `npm start` */
export function transcriptOf(scenes: readonly Scene[], server: string): string {
  const transcript = scenes.map(({ who, line, output }) => `${who}$ ${line}\n${output}`).join('\n');
  // All parties read the same before they approve: once is enough.
  const [covered = ''] = /^What is computed\n[^]*?\n\n/m.exec(transcript) ?? [];
  const [first = '', ...others] = covered === '' ? [transcript] : transcript.split(covered);
  return [first, ...others]
    .join('(the same as above)\n\n')
    .replace('(the same as above)\n\n', () => covered)
    .replace(/^On which machines[^]*?(?=^Digests$)/m, '(on which machines, and what this does not protect from)\n')
    .replace(/(?<=^(?:HOLDS .*\n){3})(?:(?:HOLDS|NOTE) .*\n)+/m, '(a line for each fact)\n')
    .replaceAll(server, 'http://localhost:3000');
}

/** Replaces what is another in each play: identifiers, hashes, keys and times. */
export function withoutChance(transcript: string): string {
  return transcript
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replace(/\b[0-9a-f]{12,64}\b/g, 'HASH')
    .replace(/SHA256:[\w+/]+/g, 'FINGERPRINT')
    .replace(/by the key "[\w-]{43}"/g, 'by the key KEY')
    .replace(/ +\+\d+\.\d s/g, ' +N s')
    .replace(/^.* agent +Complete .*\n/gm, '') // comes at its own time
    .replace(/\(\d+ notes?\)/g, '(N notes)')
    .replace(/after \d+\.\d s/g, 'after N s');
}

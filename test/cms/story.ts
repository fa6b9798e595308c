import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleCollaboration } from '../../client/cms/collaboration/example.ts';
import { openTerminal, type Typed } from './open-terminal.ts';
import { writeSshKeys } from './ssh-keys.ts';

type Party = 'alice' | 'bob';

/** The commands of two parties, each in a terminal of their own, from nothing to a checked run. */
export const story: readonly (readonly [Party, string])[] = [
  ['alice', 'cms login --local --user alice --role creator'],
  ['bob', 'cms login --local --user bob --role dataset_provider'],
  ['alice', 'cms init collaboration.yaml'],
  ['bob', 'cms init collaboration.yaml'],
  ['bob', 'cms approve --sign ~/.ssh/id_ed25519 --yes'],
  ['alice', 'cms check'],
  ['alice', 'cms approve --sign ~/.ssh/id_ed25519 --yes'],
  ['alice', 'cms run --cvm sim-1 --watch'],
  ['bob', 'cms evidence'],
  ['bob', 'cms verify'],
];

/** A command of the story with what came of it. */
export interface Scene extends Typed {
  who: Party;
  line: string;
}

/**
 * Plays the story at a service with simulated CVMs.
 * @param folder where both parties have their homes
 * @param program the file of `cms`. Default: that of the repository
 */
export async function playStory(server: string, folder: string, program?: string): Promise<Scene[]> {
  const terminals = {
    alice: openTerminal(join(folder, 'alice'), server, program),
    bob: openTerminal(join(folder, 'bob'), server, program),
  };
  const data = join(import.meta.dirname, '../../demo/data');
  copyFileSync(join(data, 'penguin-sizes.py'), join(terminals.alice.home, 'penguin-sizes.py'));
  copyFileSync(join(data, 'penguins.csv'), join(terminals.bob.home, 'penguins.csv'));
  for (const { home } of Object.values(terminals)) {
    writeSshKeys(home);
    writeFileSync(join(home, 'collaboration.yaml'), exampleCollaboration);
  }
  const scenes: Scene[] = [];
  for (const [who, line] of story) scenes.push({ who, line, ...(await terminals[who].type(line)) });
  return scenes;
}

/** The scenes that ended with another exit code than they should. */
export function failedScenes(scenes: readonly Scene[]): Scene[] {
  return scenes.filter(({ line, exitCode }) => exitCode !== (line === 'cms check' ? 7 : 0));
}

/** Formats the story as its two terminals show it. @param server replaced by the usual address of `npm start` */
export function transcriptOf(scenes: readonly Scene[], server: string): string {
  return scenes
    .map(({ who, line, output }) => `${who}$ ${line}\n${output}`)
    .join('\n')
    .replaceAll(server, 'http://localhost:3000');
}

/** Replaces what is another in each play: identifiers, hashes, keys and times. */
export function withoutChance(transcript: string): string {
  return transcript
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replace(/\b[0-9a-f]{12,64}\b/g, 'HASH')
    .replace(/SHA256:[\w+/]+/g, 'FINGERPRINT')
    .replace(/by the key [\w-]{43}/g, 'by the key KEY')
    .replace(/ +\+\d+\.\d s/g, ' +N s')
    .replace(/^.* agent +Complete .*\n|^NOTE .* after the end of the run: .*\n/gm, '') // comes at its own time
    .replace(/The \d+ events/g, 'The N events')
    .replace(/after \d+\.\d s/g, 'after N s');
}

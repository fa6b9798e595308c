import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { EmulatedStage } from './emulated-stage.ts';
import { runCommand } from './emulator.ts';

const repository = join(import.meta.dirname, '../..');

/** Returns the text under a heading of a page of docs/, without the headings below it. @param anchor of the heading, as links have it */
export function sectionOf(page: string, anchor: string): string {
  const sections = readFileSync(join(repository, 'docs', page), 'utf8').split(/^(?=#{2,3} )/m);
  const found = sections.find(
    (section) => anchorOf(/^#+ (.*)/.exec(section)?.[1] ?? '') === anchor || section.includes(`<a id="${anchor}">`),
  );
  if (found === undefined) throw new Error(`docs/${page} has no heading ${anchor}.`);
  return found;
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}

/** Returns the blocks of commands and queries of a section, without their indentation. */
export function blocksOf(section: string): string[] {
  return [...section.matchAll(/(?:^ {4,}\S.*\n)+/gm)].map(([block]) => {
    const indentation = /^ */.exec(block)?.[0].length ?? 0;
    return block.replaceAll(new RegExp(`^ {${indentation}}`, 'gm'), '');
  });
}

/** Returns the commands of a section: those of its blocks, and those within its sentences. */
function commandsOf(section: string): string[] {
  const programs = 'aws |npx |curl |queue=';
  const within = [...section.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  const inBlocks = blocksOf(section).flatMap((block) => block.split(new RegExp(`^(?=${programs})`, 'm')));
  return [...inBlocks, ...within].map((code) => code.trim()).filter((code) => new RegExp(`^(?:${programs})`).test(code));
}

/**
 * Returns the command of a section that begins with these words, with values in place of its `<names>`.
 * @throws Error if there is none, or if it names what no value is given for
 */
export function commandOf(section: string, words: string, values: Record<string, string>): string {
  const command = commandsOf(section).find((each) => each.startsWith(words));
  if (command === undefined) throw new Error(`The page has no command that begins with \`${words}\`:\n${section}`);
  return fill(command, values);
}

/** Puts values in place of `<names>`. @throws Error if one is left */
export function fill(command: string, values: Record<string, string>): string {
  const filled = Object.entries(values).reduce((text, [name, value]) => text.replaceAll(`<${name}>`, value), command);
  const [missing] = /<[A-Za-z][^>\n]*>/.exec(filled) ?? [];
  if (missing) throw new Error(`The page names ${missing}, which the drill does not know: ${command}`);
  return filled;
}

/** PyPI has version 1 of the AWS CLI, which takes JSON as it is and does not know this option. */
const onlyInVersion2 = /--cli-binary-format raw-in-base64-out/;

/**
 * Runs commands in the folder of a rehearsal, with the AWS CLI of the emulator's Python, and cdk with the assembly that is deployed.
 * Returns what they print. @param before more of the shell's script
 */
export async function runShell({ place, emulator }: EmulatedStage, name: string, text: string, before = ''): Promise<string> {
  const logFile = join(place.folder, `${name}.log`);
  const PATH = [dirname(place.python), process.env['PATH']].join(delimiter);
  const app = `--app ${join(place.folder, 'cdk.out')}`;
  const cdk = `npx() { (cd ${JSON.stringify(repository)}; command npx "$@" ${app}); }`;
  const aws = 'aws() { command aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"; }'; // version 1 has an address of its own for queues
  const script = `set -euo pipefail; cd ${JSON.stringify(place.folder)}; ${cdk}; ${aws}; ${before}\n${text.replace(onlyInVersion2, ' ')}`;
  const environment = { ...emulator.awsEnvironment, PATH, AWS_DEFAULT_REGION: emulator.address.region };
  await runCommand({ words: ['bash', '-c', script], environment, logFile });
  return readFileSync(logFile, 'utf8');
}

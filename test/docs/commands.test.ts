import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** The commands that the documents tell operators to type: those of indented blocks, each on one line. */
const commands = globSync(['*.md', 'docs/*.md'], { cwd: root }).flatMap((page) => commandsOf(textOf(page)));

function textOf(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

function commandsOf(text: string): string[] {
  return text.replaceAll(/\\\n\s*/g, '').match(/(?<=^ {4,6})\S.*$/gm) ?? [];
}

/** Returns the text below a heading, to the next one of any level. */
function sectionOf(page: string, heading: string): string {
  const sections = textOf(page).split(/^#+ (?=.)/m);
  const found = sections.find((section) => section.startsWith(`${heading}\n`));
  if (!found) throw new Error(`${page} has no heading ${heading}.`);
  return found;
}

describe('the commands of the documents', () => {
  const calls = commands.filter((command) => command.includes('aws lambda invoke'));

  it('call functions', () => expect(calls.length).toBeGreaterThan(4));

  it.each(calls)('wait for the answer of a function, instead of calling it again after a minute: %s', (command) => {
    expect(command).toContain('--cli-read-timeout 0');
  });

  it.each(calls.filter((command) => command.includes('--payload')))('send a payload as it is written: %s', (command) => {
    expect(command).toContain('--cli-binary-format raw-in-base64-out');
  });

  it.each(commands.filter((command) => command.includes('wait table-exists')))('outwait the 8 minutes of %s', (command) => {
    expect(command).toMatch(/^until .*; do sleep \d+; done$/);
  });
});

describe('removing a part of a stage, by docs/deploy.md', () => {
  it.each(['Canary', 'ConsoleFiles'])('ends the protection of its stack first: %s', (part) => {
    const ofPage = commandsOf(textOf('docs/deploy.md'));
    const before = ofPage[ofPage.indexOf(`npx cdk destroy '<stage>/${part}'`) - 1];
    expect(before).toContain('--no-enable-termination-protection');
    expect(before).toContain(`--stack-name computations-<stage>-${part.toLowerCase()}`);
  });
});

describe('rolling back, by docs/deploy.md', () => {
  it('deploys the service and operations stacks alone, because the state stack of the previous version may lack keys', () => {
    const deployments = commandsOf(sectionOf('docs/deploy.md', 'Upgrading and rolling back')).filter((command) =>
      command.includes('cdk deploy'),
    );
    expect(deployments).toEqual(["npx cdk deploy --exclusively '<stage>/Service' '<stage>/Operations'"]);
  });
});

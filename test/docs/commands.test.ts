import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** The commands that the documents tell operators to type: those of indented blocks, each on one line. */
const commands = globSync(['*.md', 'docs/*.md'], { cwd: root }).flatMap((page) =>
  commandsOf(readFileSync(join(root, page), 'utf8')),
);

function commandsOf(text: string): string[] {
  return text.replaceAll(/\\\n\s*/g, '').match(/(?<=^ {4,6})\S.*$/gm) ?? [];
}

/** Returns the text below a heading, to the next one of any level. */
function sectionOf(page: string, heading: string): string {
  const sections = readFileSync(join(root, page), 'utf8').split(/^#+ (?=.)/m);
  const found = sections.find((section) => section.startsWith(`${heading}\n`));
  if (!found) throw new Error(`${page} has no heading ${heading}.`);
  return found;
}

describe('rolling back, by docs/upgrade.md', () => {
  it('deploys the service and operations stacks alone, because the state stack of the version before lacks keys', () => {
    const deployments = commandsOf(sectionOf('docs/upgrade.md', 'Rolling back')).filter((command) =>
      command.includes('cdk deploy'),
    );
    expect(deployments).toEqual(["npx cdk deploy --exclusively '<stage>/Service' '<stage>/Operations'"]);
  });
});

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../../../local/stack.ts';
import { ownNode } from '../../support/follow-readme.ts';
import { firstSteps, takeFirstSteps } from '../first-steps.ts';
import { failedScenes, playStory, type Scene, story, transcriptOf, withoutChance } from './story.ts';

let stack: Stack;
let folder: string;
let printed: string;
let scenes: Scene[];
beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: true });
  ({ folder, printed } = await takeFirstSteps('cms', { service: stack.baseUrl }));
  const program = join(folder, 'node_modules/computation-management-cms/dist/cms.js');
  scenes = await playStory(stack.baseUrl, join(folder, 'homes'), { program, node: join(ownNode, 'node') });
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true });
});

describe('the package of cms', () => {
  it('works as its README says, in an empty folder', () => {
    expect(printed).toMatch(firstSteps.cms.printed);
  });

  it('has the licenses of the packages that are in its one file', () => {
    const licenses = readFileSync(join(folder, 'node_modules/computation-management-cms/dist/licenses.txt'), 'utf8');
    const names = licenses.match(/^\S+(?= \d+\.\d+\.\d+$)/gm);
    expect(names).toEqual(expect.arrayContaining(['commander', 'sshpk', 'yaml']));
    expect(licenses).toContain('Copyright (c) 2012 Mark Cavage'); // of assert-plus, which has it in its README only
  });
});

describe('two parties in two terminals with the packaged cms', () => {
  it('get from nothing to a watched, completed and checked run in at most 9 commands, with keys made on the way', () => {
    expect(story.length).toBeLessThanOrEqual(9);
    expect(failedScenes(scenes)).toEqual([]);
    const outputOf = (line: string) => scenes.find((scene) => scene.line.startsWith(line))?.output;
    expect(outputOf('cms init')).toContain('Approval of alice as result consumer');
    expect(outputOf('cms run')).toMatch(/agent +Running +Completed[^]*✓ .*completed[^]*The run has completed after/);
    expect(outputOf('cms evidence')).toMatch(
      /"bob" approved this manifest and configuration, signed[^]*Everything that was checked holds \(\d notes?\)\.\n$/,
    );
  });

  it('see what docs/command-line.md shows (npm run docs:commands writes it)', () => {
    const guide = readFileSync(join(import.meta.dirname, '../../../docs/command-line.md'), 'utf8');
    const shown = /<!-- transcript:begin -->\n+```text\n([^]*?)```\n+<!-- transcript:end -->/.exec(guide)?.[1] ?? '';
    expect(withoutChance(shown)).toBe(withoutChance(transcriptOf(scenes, stack.baseUrl)));
  });
});

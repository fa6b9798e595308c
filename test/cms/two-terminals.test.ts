import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../../infra/local/stack.ts';
import { failedScenes, playStory, type Scene, story, transcriptOf, withoutChance } from './story.ts';

const folder = mkdtempSync(join(tmpdir(), 'cms-'));
let stack: Stack;
let scenes: Scene[];

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: true });
  scenes = await playStory(stack.baseUrl, folder);
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true });
});

describe('two parties in two terminals', () => {
  it('get from nothing to a watched, completed and checked run in under 15 commands', () => {
    expect(story.length).toBeLessThan(15);
    expect(failedScenes(scenes)).toEqual([]);
    const outputOf = (line: string) => scenes.find((scene) => scene.line.startsWith(line))?.output;
    expect(outputOf('cms check')).toContain('Approval of alice as result consumer');
    expect(outputOf('cms run')).toMatch(/agent +Running +Completed[^]*✓ .*completed[^]*The run has completed after/);
    expect(outputOf('cms verify')).toMatch(
      /bob approved this manifest, signed[^]*Everything that was checked holds \(\d notes?\)\.\n$/,
    );
  });

  it('see what docs/command-line.md shows (npm run docs:commands writes it)', () => {
    const guide = readFileSync(new URL('../../docs/command-line.md', import.meta.url), 'utf8');
    const shown = /<!-- transcript:begin -->\n+```text\n([^]*?)```\n+<!-- transcript:end -->/.exec(guide)?.[1] ?? '';
    expect(withoutChance(shown)).toBe(withoutChance(transcriptOf(scenes, stack.baseUrl)));
  });
});

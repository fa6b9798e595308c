import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '../../local/stack.ts';
import { playStory, transcriptOf } from '../../test/packages/cms/story.ts';

/** Plays the story of two terminals, and writes what they show into docs/command-line.md. */
const guide = join(import.meta.dirname, '../../docs/command-line.md');
const folder = mkdtempSync(join(tmpdir(), 'cms-'));
const stack = await startStack({ port: 0, simulator: true });
try {
  const transcript = transcriptOf(await playStory(stack.baseUrl, folder), stack.baseUrl);
  const [before = ''] = readFileSync(guide, 'utf8').split('<!-- transcript:begin -->');
  const [, after = ''] = readFileSync(guide, 'utf8').split('<!-- transcript:end -->');
  const block = `<!-- transcript:begin -->\n\n\`\`\`text\n${transcript}\`\`\`\n\n<!-- transcript:end -->`;
  writeFileSync(guide, `${before}${block}${after}`);
} finally {
  await stack.stop();
  rmSync(folder, { recursive: true });
}
process.exit(0);

import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const pages = globSync(['*.md', 'packages/client/*.md', 'docs/**/*.md'], { cwd: root });

describe('the documents', () => {
  it.each(pages)('%s links to files and headings that exist', (page) => {
    const broken = linksOf(page).filter(({ file, anchor }) => {
      if (!existsSync(join(root, file))) return true;
      return anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).has(anchor);
    });
    expect(broken).toEqual([]);
  });
});

/** The links of a page to files of this repository. */
function linksOf(page: string): { file: string; anchor: string | undefined }[] {
  const targets = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#');
      return { file: path === '' ? page : relative(root, join(root, dirname(page), path)), anchor };
    });
}

/** The anchors of a page: those that it writes, and those that GitHub makes of its headings. */
function anchorsOf(page: string): Set<string> {
  const text = prose(page);
  const written = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...written, ...headings]);
}

/** A page without its examples of code. */
function prose(page: string): string {
  return readFileSync(join(root, page), 'utf8').replaceAll(/^```.*?^```$/gms, '');
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked } from 'marked';
import { defineConfig, type Plugin } from 'vite';
import { htmlPage, helpPages } from './help/html-page.ts';
import { licensesOf } from './licenses.ts';

/**
 * Returns a plugin that makes files of the fonts that the global styles contain as base64. The browser then loads only the fonts that a
 * page uses, in parallel, and the page's policy needs no `data:` fonts.
 */
function fontsAsFiles(): Plugin {
  return {
    name: 'fonts-as-files',
    apply: 'build',
    enforce: 'pre',
    transform(code, id) {
      if (!id.endsWith('global-styles/index.css')) return undefined;
      let count = 0;
      return code.replaceAll(/data:font\/woff2;base64,([\w+/=]+)/g, (_, base64: string) => {
        const name = `open-sans-${++count}.woff2`;
        const file = this.emitFile({ type: 'asset', name, source: Buffer.from(base64, 'base64') });
        return `__VITE_ASSET__${file}__`;
      });
    },
  };
}

/**
 * Returns a plugin that makes the pages of /help/ of the documents that `helpPages` names. A link to another document becomes plain text.
 */
function helpFromDocuments(): Plugin {
  return {
    name: 'help-from-documents',
    apply: 'build',
    buildStart() {
      this.emitFile({ type: 'chunk', id: join(import.meta.dirname, 'help/search.ts'), fileName: 'help/search.js' });
    },
    generateBundle() {
      const emit = (name: string, source: string) => this.emitFile({ type: 'asset', fileName: `help/${name}`, source });
      emit('help.css', readFileSync(join(import.meta.dirname, 'help/help.css'), 'utf8'));
      emit('index.html', helpPage('Help', '<h1>Help</h1>\n<p>Choose a page, or search all of them.</p>'));
      for (const { name, title } of helpPages) {
        const document = readFileSync(join(import.meta.dirname, `../../docs/${name}.md`), 'utf8');
        emit(`${name}.html`, helpPage(title, helpRenderer().parse(document, { async: false })));
      }
    },
  };
}

/** The files whose code is in the console or in one of its workers, by their absolute paths. */
const contained = new Set<string>();

/**
 * Returns a plugin that finds the files that a part of the console contains. `vite` builds the workers before the console, each
 * with plugins of its own.
 * @param isLast true for the console itself, beside which the licenses of all that was found are written
 */
function licenses({ isLast = false } = {}): Plugin {
  return {
    name: 'licenses',
    generateBundle(_, bundle) {
      for (const part of Object.values(bundle))
        for (const [file, { renderedLength }] of Object.entries('modules' in part ? part.modules : {}))
          if (renderedLength > 0) contained.add(file);
      if (isLast) this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: licensesOf(contained) });
    },
  };
}

const idOf = (title: string) =>
  title
    .toLowerCase()
    .replaceAll(/<[^>]*>|[^\w\- ]/g, '')
    .replaceAll(' ', '-');

function helpRenderer(): Marked {
  const marked = new Marked();
  marked.use({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${idOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const [, name, part = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
        const target = helpPages.some((page) => page.name === name) ? `${name}.html${part}` : href;
        const leads = target !== href || /^(#|https:)/.test(href);
        const content = this.parser.parseInline(tokens);
        return leads ? `<a href="${target}">${content}</a>` : content;
      },
      image: () => '',
    },
    hooks: {
      // Wide tables and code scroll by themselves, also by keyboard.
      postprocess: (html) =>
        html
          .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
          .replaceAll('</table>', '</table></div>')
          .replaceAll('<pre>', '<pre tabindex="0">')
          // The search finds what a list explains.
          .replaceAll(/<li>(?=(?:<p>)?<strong>(.*?)<\/strong>)/g, (_, title: string) => `<li id="item-${idOf(title)}">`),
    },
  });
  return marked;
}

function helpPage(title: string, content: string): string {
  const links = helpPages.map((page) => `<a class="page" href="${page.name}.html">${page.title}</a>`);
  return htmlPage({
    title,
    styles: 'help.css',
    head: '<script type="module" src="search.js"></script>',
    body: `    <header>
      <nav aria-label="Help">${links.join('\n')}\n<a href="/console/">Open the console</a></nav>
      <p><label for="search">Search the help</label></p>
      <input id="search" type="search" autocomplete="off" />
      <p id="found" role="status"></p>
      <ol id="results"></ol>
    </header>
    <main>
${content}
    </main>`,
  });
}

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [fontsAsFiles(), helpFromDocuments(), licenses({ isLast: true })],
  css: { lightningcss: { errorRecovery: true } },
  worker: { format: 'es', plugins: () => [licenses()] },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    chunkSizeWarningLimit: 1_500,
    rolldownOptions: {
      // What two screens use is one file. Otherwise a browser loads some 50 small ones for the first screen.
      output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] } },
      onLog: (level, log, report) => {
        // Cloudscape marks its components for servers that render React. There is none here.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
      },
    },
  },
});

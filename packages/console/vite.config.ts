import { defineConfig, type Plugin } from 'vite';

/**
 * Makes files of the fonts that the global styles contain as base64. The browser then loads only those that a page uses, in
 * parallel, and the page's policy needs no `data:` fonts.
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

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [fontsAsFiles()],
  css: { lightningcss: { errorRecovery: true } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    chunkSizeWarningLimit: 1_500,
    rolldownOptions: {
      onLog: (level, log, report) => {
        // Cloudscape marks its components for servers that render React. There is none here.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
      },
    },
  },
});

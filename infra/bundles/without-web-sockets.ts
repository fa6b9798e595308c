import type { Plugin } from 'esbuild';

const namespace = 'without-web-sockets';

/**
 * Replaces `import { STATUS_CODES } from 'node:http'`, which middy contains. The import reads every export of the module, so it
 * loads Node's WebSocket and all of undici, which takes 30 ms of a cold start. `getBuiltinModule` does not load them.
 */
export const withoutWebSockets: Plugin = {
  name: namespace,
  setup(build) {
    build.onResolve({ filter: /^node:http$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace } : { path, external: true },
    );
    build.onLoad({ filter: /.*/, namespace }, () => ({
      contents: `export const { STATUS_CODES } = process.getBuiltinModule('node:http');`,
    }));
  },
};

import { setGlobalProxyFromEnv } from 'node:http';

const loopback = ['localhost', '127.0.0.1', '[::1]', '::1'];

/** Makes this process connect to its own machine directly where NODE_USE_ENV_PROXY makes Node use the proxy of the environment. */
export function neverProxyLoopback(): void {
  const { env } = process;
  if (env['NODE_USE_ENV_PROXY'] !== '1') return;
  const given = env['no_proxy'] ?? env['NO_PROXY'];
  const no_proxy = [...(given ? [given] : []), ...loopback].join(',');
  Object.assign(env, { no_proxy, NO_PROXY: no_proxy });
  setGlobalProxyFromEnv(env);
}

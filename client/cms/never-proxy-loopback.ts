import * as http from 'node:http';

const loopback = ['localhost', '127.0.0.1', '[::1]', '::1'];

/** Connects to this machine directly where NODE_USE_ENV_PROXY makes Node use the proxy of the environment. */
export function neverProxyLoopback(env: Record<string, string | undefined>): void {
  if (env['NODE_USE_ENV_PROXY'] !== '1' || !('setGlobalProxyFromEnv' in http)) return; // Node 20 has no such proxies
  const given = env['no_proxy'] ?? env['NO_PROXY'];
  const no_proxy = [...(given ? [given] : []), ...loopback].join(',');
  http.setGlobalProxyFromEnv({ ...env, no_proxy, NO_PROXY: no_proxy });
}

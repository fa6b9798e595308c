import * as http from 'node:http';

const loopback = ['localhost', '127.0.0.1', '[::1]', '::1'];

/**
 * Keeps Node from sending requests to this machine through a proxy, as the variable NODE_USE_ENV_PROXY makes Node do.
 * @returns the environment variables that child processes need for the same
 */
export function neverProxyLoopback(env: Record<string, string | undefined>): Record<string, string> {
  if (env['NODE_USE_ENV_PROXY'] !== '1' || !('setGlobalProxyFromEnv' in http)) return {}; // Node 20 has no such proxies
  const given = env['no_proxy'] ?? env['NO_PROXY'];
  const no_proxy = [...(given ? [given] : []), ...loopback].join(',');
  const changed = { no_proxy, NO_PROXY: no_proxy };
  http.setGlobalProxyFromEnv({ ...env, ...changed });
  return changed;
}

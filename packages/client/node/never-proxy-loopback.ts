import * as http from 'node:http';
import { unescape } from 'node:querystring';
import { AddressError } from '../calls/web-address.ts';

const loopback = ['localhost', '127.0.0.1', '[::1]', '::1'];
const variables = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

/**
 * Keeps Node from sending requests to this machine through a proxy, as the variable NODE_USE_ENV_PROXY makes Node do. An address of a proxy
 * without a scheme, such as `proxy:3128`, is one of http.
 * @returns the environment variables that child processes need for the same
 * @throws AddressError with the name of a variable that is no address. The value may have a password, and is not repeated
 */
export function neverProxyLoopback(env: Record<string, string | undefined>): Record<string, string> {
  if (env['NODE_USE_ENV_PROXY'] !== '1' || !('setGlobalProxyFromEnv' in http)) return {}; // Node 20 has no such proxies
  const given = env['no_proxy'] ?? env['NO_PROXY'];
  const no_proxy = [...(given ? [given] : []), ...loopback].join(',');
  const proxies = variables.filter((name) => env[name]).map((name) => [name, proxyOf(name, env[name] ?? '')] as const);
  const changed = { no_proxy, NO_PROXY: no_proxy, ...Object.fromEntries(proxies) };
  http.setGlobalProxyFromEnv({ ...env, ...changed });
  return changed;
}

function proxyOf(name: string, value: string): string {
  const text = value.trim();
  if (text === '') return '';
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url && url.hostname !== '' && !text.startsWith('/') && /^(https?|socks5?):$/.test(url.protocol)) {
    const [user, password] = [url.username, url.password].map((part) => encodeURIComponent(unescape(part))); // Node takes no `%` of its own
    const login = user ? `${user}${password ? `:${password}` : ''}@` : '';
    return `${url.protocol}//${login}${url.host}`;
  }
  throw new AddressError(`${name} is not the address of a proxy. Expected one such as http://proxy.example.com:3128.`);
}

import type { GatewayOptions } from './gateway/gateway.ts';

type Done = Parameters<NonNullable<GatewayOptions['onResponse']>>[0];

/** A line on an answered request, for somebody who watches; nothing on pages, and on CVMs only what was refused. */
export function requestLine({ method, url, statusCode, milliseconds, route }: Done): string {
  if (route === undefined || (route.startsWith('cvms/') && statusCode < 400)) return '';
  return `  ${statusCode}  ${method.padEnd(6)} ${url}  ${milliseconds.toFixed(0)} ms\n`;
}

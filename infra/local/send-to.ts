/**
 * Makes a client of the SDK send its calls to an endpoint. The functions create their clients once in a process, and the parts of a stack
 * that ran in it before had other endpoints.
 */
export function sendTo({ config }: { config: object }, endpoint: string): void {
  const { protocol, hostname, port } = new URL(endpoint);
  const place = { protocol, hostname, port: Number(port), path: '/' };
  Object.assign(config, { isCustomEndpoint: true, endpoint: () => Promise.resolve(place) });
}

import { once } from 'node:events';
import { createServer } from 'node:http';

/**
 * Answers 200 to a load balancer, which shows that the process still gets to its work. It does not depend on the service: if all
 * gateways were replaced because the table does not answer, every CVM would lose its streams as well.
 * @returns a function that stops
 */
export async function serveHealth(port: number): Promise<() => void> {
  const server = createServer((_request, response) => response.end('ok\n')).listen(port);
  await once(server, 'listening');
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

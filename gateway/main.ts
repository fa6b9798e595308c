import { once } from 'node:events';
import { createServer } from 'node:http';
import { hostname } from 'node:os';
import * as v from 'valibot';
import { environment } from '../shared/runtime/environment.ts';
import { log } from '../shared/runtime/log.ts';
import { deploymentOfTask, protectTask } from './ecs-task.ts';
import { emitGatewayMetrics } from './gateway-metrics.ts';
import { lineRunLogs } from './session/run-logs.ts';
import { startGateway } from './start-gateway.ts';

// Runs the gateway as a process that is configured by environment variables. It ends on SIGTERM, or in a task of ECS when a later
// deployment has replaced it and it has drained.

/** The schema of the variable `GATEWAY_TLS`: the certificates and the private key of the gateway, in PEM. */
const tls = v.object({ ca: v.string(), certificate: v.string(), key: v.string() });

// Node keeps a copy of the protocols' names for each TLS connection. It cuts them from a block of this size, 64 KiB by default, and
// the block stays as long as any piece of it.
Buffer.poolSize = 1024;

const { GATEWAY_PORT, GATEWAY_TLS, GATEWAY_HEALTH_PORT, ECS_AGENT_URI } = environment();
const certificates = v.parse(v.pipe(v.string(), v.parseJson(), tls), GATEWAY_TLS);
const gateway = await startGateway({
  port: GATEWAY_PORT,
  tls: certificates,
  logs: lineRunLogs(),
  name: `${hostname()}:${GATEWAY_PORT}`, // no other process that runs has it
  ...(ECS_AGENT_URI === undefined ? {} : { deployment: await deploymentOfTask() }),
});
if (ECS_AGENT_URI !== undefined) protectTask(ECS_AGENT_URI, () => gateway.gauges().attestedCvms > 0);
const stopMetrics = emitGatewayMetrics(gateway, certificates.certificate);
const stopHealth = await serveHealth(GATEWAY_HEALTH_PORT);
log('INFO', 'The gateway listens.', { port: gateway.port });

process.once('SIGTERM', stop);
void gateway.drained.then(stop);

function stop(): void {
  stopMetrics();
  stopHealth();
  void gateway.stop().then(
    () => process.exit(0),
    (error: unknown) => {
      log('ERROR', 'The gateway did not shut down cleanly.', {}, error);
      process.exit(1);
    },
  );
}

/**
 * Serves a health check of the gateway, which answers 200 while the process works, even if the table does not answer: replacing
 * all gateways would only cut every CVM's streams.
 * @returns a function that stops
 */
async function serveHealth(port: number): Promise<() => void> {
  const server = createServer((_request, response) => response.end('ok\n')).listen(port);
  await once(server, 'listening');
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

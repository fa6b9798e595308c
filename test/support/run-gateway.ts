import { lineRunLogs } from '../../gateway/session/run-logs.ts';
import { startGateway } from '../../gateway/start-gateway.ts';
import { environment } from '../../shared/runtime/environment.ts';
import { testTimings } from './gateway-in-process.ts';

/** A gateway in a process of its own, at the timings of tests, or with the argument `real` of a stage. Prints a line when it listens. */
const timings = process.argv[2] === 'real' ? {} : testTimings;
const { GATEWAY_PORT, GATEWAY_TLS } = environment();
const tls = JSON.parse(GATEWAY_TLS) as { ca: string; certificate: string; key: string };
const gateway = await startGateway({ port: GATEWAY_PORT, host: '127.0.0.1', tls, logs: lineRunLogs(), timings });
process.stdout.write(`listening ${gateway.port}\n`);
process.stdin.once('end', () => process.exit(1)).resume(); // the test has ended without ending it
process.once('SIGTERM', () => void gateway.stop().then(() => process.exit(0)));

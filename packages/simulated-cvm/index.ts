/** The entry `computation-management-simulated-cvm`. */
export { connectCvm } from './simulated-connection.ts';
export { simulateCvm } from './simulated-cvm.ts';
export { startSimulatedCvms } from './simulated-cvms.ts';

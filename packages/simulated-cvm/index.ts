/** The entry of the package `computation-management-simulated-cvm`. */
export { connectCvm } from './simulated-connection.ts';
export { simulateCvm } from './simulated-cvm.ts';
export { attests, testRoot } from './simulated-evidence.ts';
export { type SimulatedCvms, startSimulatedCvms } from './simulated-cvms.ts';

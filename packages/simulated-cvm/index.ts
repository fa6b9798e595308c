/** The entry of the package `computation-management-simulated-cvm`. */
export { type AgentEvent, behaviourOf, stoppedEvents } from './simulated-behaviour.ts';
export { connectCvm } from './simulated-connection.ts';
export { simulateCvm } from './simulated-cvm.ts';
export { attests, testRoot, testToken, testTokenOver } from './simulated-evidence.ts';
export { type SimulatedCvms, startSimulatedCvms } from './simulated-cvms.ts';

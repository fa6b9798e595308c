export { type AgentRecord, bindAgent, readAgentRecord, recordAgentProcess, restartProcess } from './agent-record.ts';
export {
  keepProcessOfRun,
  processOfRunItem,
  readTokensOfRun,
  recordToken,
  shownOf,
  type TokenOfProcess,
  tokensLiveInDays,
} from './agent-tokens.ts';
export { whyNotAttested } from './attestation.ts';
export { addCollateral, readOneCollateral } from './collateral.ts';
export { rootsOfMakers } from './verify-reported-token.ts';

/**
 * The interface of `shared/attestation`, which keeps and verifies the attestation tokens of agent processes and compares the
 * results with policies. Code outside of this folder, except for the handlers of attestation, imports only these names.
 */

export { bindAgent, readAgentRecord, recordAgentProcess } from './agent-record.ts';
export { judgeTokens, tokenVerifier, verifyFresh } from './verify-tokens.ts';
export { addCollateral, emitCollateralDays, listCollateral, readOneCollateral, removeCollateral } from './collateral.ts';

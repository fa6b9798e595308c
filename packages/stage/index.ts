export { ComputationServiceStage, type ComputationServiceStageProps } from '../../infra/computation-service-stage.ts';
export type { BuiltFiles } from '../../infra/computation-service-stage.ts';
export type { Stage } from '../../infra/stages/stage.ts';

import type { Uses } from '../shared/runtime/uses.ts';

export const gatewayUses = {
  table: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
  stateMachine: ['SendTaskSuccess', 'SendTaskHeartbeat'],
  sealingKey: ['Decrypt'],
} as const satisfies Uses;

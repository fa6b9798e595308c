import { type Client, type Schemas, ServiceProblem } from 'computation-management-client';

const steps: Record<string, string> = {
  'ReceivingAlgorithm/InProgress':
    'The CVM waits for the algorithm. Its provider types: AGENT_GRPC_URL=ADDRESS cocos-cli algo FILE KEY.pem -a bin\n',
  'ReceivingData/InProgress':
    'The CVM waits for the datasets. Each provider types: AGENT_GRPC_URL=ADDRESS cocos-cli data FILE KEY.pem\n',
  'ConsumingResults/Ready': 'The result is in the CVM. Each consumer types: AGENT_GRPC_URL=ADDRESS cocos-cli result KEY.pem\n',
};

/** What users do at the agent of a real CVM after an event (docs/participant.md). */
export function stepAtTheAgent({ event_type, status }: Schemas['Event']): string | undefined {
  return steps[`${event_type}/${status}`];
}

/** Whether users must bring files to a CVM: simulated ones are not registered. A service that cannot say it counts as no. */
export async function isRegistered(client: Client, cvmID: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.getCvm({ cvmID, signal });
    return true;
  } catch (error) {
    if (error instanceof ServiceProblem) return false;
    throw error;
  }
}

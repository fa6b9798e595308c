export interface Welcome {
  baseUrl: string;
  version: string;
  /** A token for alice, administrator of d1. */
  token: string;
  simulator: boolean;
  /** Whether the web console is served. */
  withConsole: boolean;
  dataDirectory: string | undefined;
  /** The address of the gateway for the agents of real CVMs. */
  gateway: string | undefined;
  /** Whether it listens on another port than it usually does, because that is taken. */
  isGatewayMoved: boolean;
}

const missed = `
                    Its usual port is taken. CVMs that were enrolled with another address do not find it: free that port
                    and start again, or enrol them again. GATEWAY_PORT chooses a port that stays.`;

/** Formats what `npm start` prints when the service is ready. */
export function welcome(facts: Welcome): string {
  const { baseUrl, version, token, simulator, withConsole, dataDirectory, gateway, isGatewayMoved } = facts;
  const state = dataDirectory === undefined ? 'in memory, lost at exit (use --data DIR to keep it)' : `in ${dataDirectory}`;
  const cvms = simulator ? 'simulated: any CVM that a run names answers, unless it is registered' : 'not simulated';
  const isMissed = isGatewayMoved && dataDirectory !== undefined; // else no CVM is enrolled yet
  const { port } = new URL(baseUrl);
  const withPort = port === '3000' ? '' : `PORT=${port} `;
  return `
  Computation Management Service ${version} on this machine

    Base URL        ${baseUrl}
    Documentation   ${baseUrl}/docs${withConsole ? `\n    Console         ${baseUrl}/console/` : ''}
    State           ${state}
    CVMs            ${cvms}
    Agents          ${gateway ?? 'not served'} (enrol a real CVM: ${withPort}npm run cvm -- enrol --domain d1 --cvm my-cvm)${isMissed ? missed : ''}

  A token for alice, administrator of the domain d1, valid for 12 hours:

export TOKEN=${token}

  Create a computation:

curl -s -X POST ${baseUrl}/d1/computations -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -d '{"name": "My first computation"}'

  Get another token: ${withPort}npm run --silent token -- --sub bob --groups d1:viewer,d2:creator
  Press Ctrl-C to stop the service.

`;
}

export interface Welcome {
  baseUrl: string;
  version: string;
  /** For alice, administrator of d1. */
  token: string;
  simulator: boolean;
  dataDirectory: string | undefined;
}

/** What `npm start` says once the service answers. */
export function welcome({ baseUrl, version, token, simulator, dataDirectory }: Welcome): string {
  const state = dataDirectory === undefined ? 'in memory, gone at the end (--data DIR keeps it)' : `kept under ${dataDirectory}`;
  const cvms = simulator ? 'simulated: every CVM named in a run answers (--no-simulator leaves them to you)' : 'none simulated';
  const { port } = new URL(baseUrl);
  const tokenCommand = `${port === '3000' ? '' : `PORT=${port} `}npm run --silent token --`;
  return `
  Computation Management Service ${version} on this machine

    Base URL        ${baseUrl}
    Documentation   ${baseUrl}/docs
    State           ${state}
    CVMs            ${cvms}

  You are alice, administrator of the domain d1, with this token for 12 hours:

TOKEN=${token}

  A first computation:

curl -s -X POST ${baseUrl}/d1/computations -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -d '{"name": "My first computation"}'

  Tokens for others: ${tokenCommand} --sub bob --groups d1:viewer,d2:creator
  Ctrl-C ends the service.

`;
}

/** The files of the gateway, as `npm run build` writes them. The first one is what runs. */
export const gatewayFiles = ['index.mjs', 'cvms.proto'] as const;

/** The folder of the function that issues the gateway's certificate, within the gateway's. */
export const certificateFunctionFolder = 'issue-certificate';

/** The code that fetches the files and runs the first, for Node's `--eval`. */
export const startFile = 'start.mjs';

import { lacksTls, type ServiceProblem } from 'computation-management-client';
import type { Circumstances, Wording } from './circumstances.ts';
import { shellWord } from './output/shell-word.ts';

/** Where the address of the service comes from. */
const whence = '--server, CMS_SERVER or that of the profile';

/** Explains that no service answers, or not with https. */
export function unreachable({ cause }: ServiceProblem, { server, isLocal, typed }: Circumstances): Wording {
  if (!lacksTls(cause)) {
    return {
      message: `No service answers at ${server}.`,
      next: isLocal ? startAt(server) : askHealth(server),
    };
  }
  const message = `${server} does not use https. Check the address: ${whence}.`;
  if (!isLocal) return { message, next: askHealth(server) }; // a token does not go elsewhere without TLS
  const plain = server.replace('https:', 'http:');
  return { message, next: typed.includes(server) ? typed.replace(server, plain) : `${typed} --server ${shellWord(plain)}` };
}

/** Explains that a server does not know a path which the service has. */
export function noSuchPath({ server }: Circumstances): Wording {
  return {
    message: `${server} has no such path. Check the address: ${whence}.`,
    next: askHealth(server),
  };
}

/** Returns the command that shows what answers at the address. */
export function askHealth(server: string): string {
  return `curl -i ${shellWord(`${server}/health`)}`;
}

/** Returns the command that starts a service of this machine where it is missing. */
function startAt(server: string): string {
  const { port } = new URL(server);
  return ['', '3000'].includes(port) ? 'npm start' : `PORT=${port} npm start`;
}

const loopback = ['localhost', '127.0.0.1', '[::1]'];

export function isLoopback({ hostname }: URL): boolean {
  return loopback.includes(hostname);
}

/**
 * Parses the address of a server that tokens and content may be sent to: with https, or with http on this machine.
 * @throws AddressError, whose message never repeats the address, because an address may contain a password
 */
export function serverAddress(text: string): URL {
  if (!URL.canParse(text)) throw new AddressError('Expected the address of a server, such as https://example.com.');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    throw new AddressError('Expected an address without a user name or password in it.');
  }
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))) return url;
  throw new AddressError('Expected an address with https, such as https://example.com. Only this machine may do without.');
}

/** The error for an address that no token and no content is sent to. */
export class AddressError extends TypeError {
  override readonly name = 'AddressError';
}

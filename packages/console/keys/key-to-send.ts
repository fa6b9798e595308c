/** Returns a public key in the form that the service takes: a line of OpenSSH as it is, PEM in base64. */
export function keyToSend(text: string): string {
  const key = text.trim();
  return key.startsWith('-----BEGIN') ? btoa(key) : key;
}

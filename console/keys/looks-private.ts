/** Whether text has a private key in PEM or in the form of OpenSSH. */
export function looksPrivate(text: string): boolean {
  return /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text);
}

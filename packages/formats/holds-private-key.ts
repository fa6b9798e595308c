/** Whether a text has a private key as PEM, of OpenSSH or of SSH.com, or is one of PuTTY or the content of one of OpenSSH. */
export function holdsPrivateKey(text: string): boolean {
  return /---- ?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY|^\s*(?:PuTTY-User-Key-File|openssh-key-v1)/.test(text);
}

/** Whether a text has a private key in it, in PEM or the form of OpenSSH, or is one in the form of PuTTY. */
export function holdsPrivateKey(text: string): boolean {
  return /---- ?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY|^(?:PuTTY-User-Key-File|openssh-key-v1)/.test(text);
}

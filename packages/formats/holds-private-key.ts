/** The pattern of the length of a DER value, in a text with one character for each byte. */
const length = String.raw`(?:[\x00-\x7f]|\x81.|\x82..|\x83...)`;
/**
 * Matches the beginning of a private key in DER, in a text with one character for each byte. PKCS#8, PKCS#1, SEC1 and PKCS#12
 * begin with a small number, and encrypted PKCS#8 with an algorithm of PKCS#5 or PKCS#12.
 */
const privateDer = new RegExp(
  String.raw`^0${length}(?:\x02\x01[\x00-\x03][0\x02\x04]|0${length}\x06[\x08-\x0b]\*\x86H\x86\xf7\r\x01[\x05\x0c])`,
  's',
);
const privateText =
  /---- ?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY|^\s*(?:PuTTY-User-Key-File|openssh-key-v1)|^(?=[^]*"kty")[^]*"[dk]"\s*:\s*"[\w+/-]{16}/;

const mostLayers = 4;

/**
 * Returns whether a text contains a private key: in PEM, as a JSON Web Key, in the form of OpenSSH, SSH.com or PuTTY, or in DER;
 * within up to four layers of base64, base64url, hex, percent-encoding or a JSON string. Recognizes the beginning of a key, so
 * that other text around it or a cut-off end does not matter.
 */
export function holdsPrivateKey(text: string, layers = mostLayers): boolean {
  if (privateText.test(text.replaceAll('\0', '')) || privateDer.test(text)) return true;
  return layers > 0 && decoded(text).some((inner) => holdsPrivateKey(inner, layers - 1));
}

/**
 * Decodes the parts of a text that may be base64, base64url, hex, percent-encoded or a JSON string. The results have one
 * character for each byte.
 */
function decoded(text: string): string[] {
  const byte = (digits: string) => String.fromCharCode(Number.parseInt(digits, 16));
  const escaped = /%[\da-f]{2}|\\["/ru]/i.test(text)
    ? [
        text
          .replace(/(?:%|\\u00)([\da-f]{2})/gi, (_, digits: string) => byte(digits))
          .replace(/\\[rn]/g, '\n')
          .replaceAll('\\', ''),
      ]
    : [];
  const whole = text.replace(/[\s:"']/g, '');
  const runs = [whole, ...(text.match(/[\w+/-]{20,}/g) ?? [])];
  const ofBase64 = runs.flatMap((run) => {
    const digits = run.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/');
    return /^[A-Za-z0-9+/]{16,}$/.test(digits) ? [atob(digits.slice(0, digits.length - (digits.length % 4)))] : [];
  });
  const ofHex = runs.filter((run) => /^(?:[\da-f]{2}){12,}$/i.test(run));
  return [...escaped, ...ofBase64, ...ofHex.map((run) => run.replace(/../g, byte))];
}

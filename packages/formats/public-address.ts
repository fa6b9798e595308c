/**
 * Matches the beginnings of tokens of known services, at the beginning of a part of an address: GitHub, GitLab, AWS, Google, Slack,
 * npm, PyPI, Docker Hub, DigitalOcean, Stripe, Anthropic, OpenAI, SendGrid, Atlassian, Vault, and JSON Web Tokens (`eyJ`).
 * docs/contract.md has the list.
 */
const token = new RegExp(
  '(?<![A-Za-z0-9])(?:' +
    [
      'gh[oprsu]_|github_pat_|gl(?:pat|dt|rt|cbt|ptt|soat)-',
      'A[KS]IA[A-Z0-9]{4}|AIza|ya29\\.|GOCSPX-|xox[a-z]-|xapp-',
      'npm_[A-Za-z0-9]{8}|pypi-AgE|dckr_[op]at_|do[opr]_v1_|[rs]k_(?:live|test)_|sk-(?:ant|proj)-|SG\\.|ATATT3|hv[bs]\\.|eyJ',
    ].join('|') +
    ')',
);

/** Returns whether a part of a text begins as a token of a known service does, also where it is percent-encoded. */
export const holdsToken = (text: string): boolean => token.test(withoutEscapes(text));

/** Returns whether a text has two dots in a row, also where they are percent-encoded. */
export const leadsUp = (text: string): boolean => withoutEscapes(text).includes('..');

/** Decodes the percent-encoded ASCII characters of a text, also those that are encoded several times. */
function withoutEscapes(text: string): string {
  const decoded = text.replace(/%([0-7][\da-f])/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return decoded === text ? text : withoutEscapes(decoded);
}

/** Matches an IPv6 address in brackets that stands for an IPv4 address: mapped (`::ffff:`), compatible (`::`) or by NAT64. */
const ipv4Within = /^\[(?:::(?:ffff:(?:0:)?)?|64:ff9b::)([\da-f]{1,4}):([\da-f]{1,4})\]$/;

/** Matches the hosts that lead to the machine itself. */
const loopback = /^(?:127|0)(?:\.\d+){3}$|^\[::1?\]$|^(?:.+\.)?localhost(?:\.localdomain)?$|^ip6-(?:localhost|loopback)$/;
/** Matches the hosts on the machine's own link, where clouds answer with credentials of the machine. */
const linkLocal = /^169\.254(?:\.\d+){2}$|^\[fe[89ab][\da-f]:.*\]$|^\[fd00:ec2::254\]$|^metadata\.google\.internal$/;

/**
 * Returns which host near the machine an address names: `loopback`, the machine itself, or `link-local`, its own link. Undefined for
 * other hosts. Knows each spelling of IPv4 and IPv6 addresses, and does not look up names.
 */
export function nearHostIn(address: string): 'loopback' | 'link-local' | undefined {
  // As http, because only for a known scheme the host is brought into one spelling.
  const url = address.replace(/^[a-z]+:/, 'http:');
  if (!URL.canParse(url)) return undefined;
  const host = new URL(url).hostname.replace(/\.$/, '');
  const [, high, low] = ipv4Within.exec(host) ?? [];
  const bytes = [high, low]
    .flatMap((part) => (part === undefined ? [] : [Number.parseInt(part, 16)]))
    .flatMap((two) => [two >> 8, two & 255]);
  const shown = bytes.length > 0 ? bytes.join('.') : host;
  if (loopback.test(shown)) return 'loopback';
  return linkLocal.test(shown) ? 'link-local' : undefined;
}

import type { Credentials } from './profile/profile.ts';

/** What was typed, and where and as whom it was carried out. */
export interface Circumstances {
  server: string;
  domain: string;
  user: string;
  isLocal: boolean;
  /** The server to name in `cms login --local`. */
  loginServer?: string | undefined;
  profileName: string;
  /** Where the token comes from: the profile's login, or the variable CMS_TOKEN. */
  login: Credentials['kind'] | 'variable' | undefined;
  /** The command line as it was typed. */
  typed: string;
  /** The command that explains the command. */
  help: string;
  /** Returns a command to type next, which works at the same place. */
  command: (text: string) => string;
  /** The computation of the command. */
  computation?: string | undefined;
  /** Whether approvals of that computation must be signed. */
  isSigned?: boolean;
}

/** What happened, and the command to type next. */
export interface Wording {
  message: string;
  next?: string;
}

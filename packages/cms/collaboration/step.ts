/** What `cms init` did about a part of a collaboration. */
export interface Step {
  subject: 'computation' | 'algorithm' | 'dataset' | 'key';
  name: string;
  /** Such as `created` or `unchanged`. */
  outcome: string;
}

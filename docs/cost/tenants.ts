/** A month of a tenant, as assumed. */
export interface Tenant {
  name: string;
  computations: number;
  runs: number;
  minutesPerRun: number;
  /** Assets uploaded, each of this size. */
  uploads: number;
  megabytesPerUpload: number;
  /** Of the uploads, how many months' worth are kept. */
  monthsKept: number;
  /** Each reads a list, a computation, its events, its status and the statistics. */
  pageViews: number;
}

export const tenants: readonly Tenant[] = [
  {
    name: 'small',
    computations: 20,
    runs: 60,
    minutesPerRun: 30,
    uploads: 60,
    megabytesPerUpload: 50,
    monthsKept: 6,
    pageViews: 3_000,
  },
  {
    name: 'medium',
    computations: 500,
    runs: 3_000,
    minutesPerRun: 60,
    uploads: 1_500,
    megabytesPerUpload: 100,
    monthsKept: 6,
    pageViews: 100_000,
  },
  {
    name: 'large',
    computations: 10_000,
    runs: 100_000,
    minutesPerRun: 60,
    uploads: 30_000,
    megabytesPerUpload: 200,
    monthsKept: 6,
    pageViews: 3_000_000,
  },
];

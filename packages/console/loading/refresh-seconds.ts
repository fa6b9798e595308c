/** How often what is shown is loaded again while the page is visible. docs/cost.md says what that costs. */
export const refreshSeconds = {
  sideBar: 120,
  todo: 60,
  computations: 30,
  computation: 30,
  runs: 15,
  events: 15,
  assets: 30,
  cvms: 15,
  cvm: 10,
} as const;

/** A month of 30 days. */
export const minutesPerMonth = 30 * 24 * 60;

/** A twelfth of a year, as AWS counts months. */
export const hoursPerMonth = 730;

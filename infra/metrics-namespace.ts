/** Where in CloudWatch the service's own metrics are, which functions emit and the dashboard shows. */
export const metricsNamespace = 'ComputationManagement';

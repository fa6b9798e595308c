/** The CloudWatch namespace of the metrics that functions emit and the dashboard shows. */
export const metricsNamespace = 'ComputationManagement';

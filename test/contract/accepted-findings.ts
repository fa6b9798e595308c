/** Findings of the OWASP rules that this API accepts, with the reason. The rules are errors or warnings of the rule set. */
export const acceptedFindings: { rule: string; where?: RegExp; reason: string }[] = [
  {
    rule: 'owasp:api4:2023-rate-limit',
    reason:
      'Only changes have a limit that a function knows: their successes and the 429 have the headers. API Gateway sends none.',
  },
  {
    rule: 'owasp:api4:2023-string-restricted',
    reason: 'Names, descriptions, reasons and opaque values are free text. What has a form has a format, a pattern or an enum.',
  },
  {
    rule: 'owasp:api8:2023-define-cors-origin',
    where: /\.schema\.|^components\./,
    reason: 'The rule takes a property named `headers` and the component headers for the headers of a response.',
  },
  {
    rule: 'owasp:api2:2023-read-restricted',
    where: /^paths\.\/(?:health|openapi\.json|\.well-known\/jwks\.json)\./,
    reason: 'Public by design. They reveal nothing about any domain.',
  },
  {
    rule: 'owasp:api8:2023-define-error-responses-401',
    where: /^paths\.\/(?:health|openapi\.json|\.well-known\/jwks\.json)\./,
    reason: 'Public by design, so there is no 401.',
  },
];

// An error that Google would answer with, in the shape of its compute API.
const kinds = {
  // reason -> [HTTP status, domain, status]
  badRequest: [400, 'global', 'INVALID_ARGUMENT'],
  invalid: [400, 'global', undefined],
  required: [400, 'global', undefined],
  authError: [401, 'global', 'UNAUTHENTICATED'],
  forbidden: [403, 'global', undefined],
  insufficientPermissions: [403, 'global', 'PERMISSION_DENIED'],
  accessNotConfigured: [403, 'usageLimits', 'PERMISSION_DENIED'],
  billingNotEnabled: [403, 'global', undefined],
  quotaExceeded: [403, 'usageLimits', undefined],
  rateLimitExceeded: [403, 'usageLimits', undefined],
  notFound: [404, 'global', undefined],
  alreadyExists: [409, 'global', undefined],
  resourceNotReady: [400, 'global', undefined],
  resourceInUseByAnotherResource: [400, 'global', undefined],
  conditionNotMet: [412, 'global', undefined],
  RATE_LIMIT_EXCEEDED: [429, 'global', 'RESOURCE_EXHAUSTED'],
  backendError: [503, 'global', 'UNAVAILABLE'],
  internalError: [500, 'global', 'INTERNAL'],
};

export class Refusal extends Error {
  constructor(reason, message, { status, details, ...more } = {}) {
    super(message);
    const [usual, domain, name] = kinds[reason] ?? [400, 'global', undefined];
    Object.assign(this, { code: reason, status: status ?? usual, domain, name_: name, details, more });
  }

  document() {
    return {
      error: {
        code: this.status, message: this.message, errors: [{ message: this.message, domain: this.domain, reason: this.code, ...this.more }],
        ...(this.name_ && { status: this.name_ }), ...(this.details && { details: this.details }),
      },
    };
  }
}

// Google's words for an unreadable request.
export const badRequest = (field, description) => new Refusal('badRequest', description, {
  details: [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ ...(field && { field }), description }] }],
});
export const invalid = (field, value, why) => new Refusal('invalid', `Invalid value for field '${field}': '${value}'. ${why}`);

// The errors of OAuth's endpoints look different.
export class TokenRefusal extends Error {
  constructor(error, description, status = 400) {
    super(description);
    Object.assign(this, { code: error, status });
  }

  document() {
    return { error: this.code, error_description: this.message };
  }
}

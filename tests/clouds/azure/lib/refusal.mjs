// An error that Azure would answer with.
const statuses = {
  InvalidAuthenticationToken: 401, AuthenticationFailed: 401, ExpiredAuthenticationToken: 401, AuthorizationFailed: 403, RequestDisallowedByPolicy: 403,
  ResourceNotFound: 404, ResourceGroupNotFound: 404, SubscriptionNotFound: 404, NotFound: 404, DeploymentNotFound: 404, ParentResourceNotFound: 404,
  OperationNotAllowed: 409, QuotaExceeded: 409, SkuNotAvailable: 409, Conflict: 409, PropertyChangeNotAllowed: 409, DeploymentActive: 409,
  PreconditionFailed: 412, TooManyRequests: 429, SubscriptionRequestsThrottled: 429, InternalServerError: 500, ServerTimeout: 503, ServiceUnavailable: 503,
};

export class Refusal extends Error {
  constructor(code, message, { status, target, details, retryAfter } = {}) {
    super(message);
    Object.assign(this, { code, status: status ?? statuses[code] ?? 400, target, details, retryAfter });
  }

  document() {
    return { error: { code: this.code, message: this.message, ...(this.target && { target: this.target }), ...(this.details && { details: this.details }) } };
  }
}

export const notFound = (group, type, name) =>
  new Refusal('ResourceNotFound', `The Resource '${type}/${name}' under resource group '${group}' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix`);

// The errors of Entra's token endpoint look different.
export class TokenRefusal extends Error {
  constructor(error, number, description, status = 400) {
    super(`AADSTS${number}: ${description}`);
    Object.assign(this, { code: error, number, status });
  }

  document() {
    return { error: this.code, error_description: this.message, error_codes: [this.number], timestamp: new Date().toISOString(), trace_id: 't', correlation_id: 'c' };
  }
}

// An error that AWS would answer with.
const statuses = {
  AuthFailure: 401,
  DryRunOperation: 412,
  ExpiredToken: 403,
  InsufficientInstanceCapacity: 500,
  InternalError: 500,
  InvalidClientTokenId: 403,
  RequestLimitExceeded: 503,
  ServiceUnavailable: 503,
  SignatureDoesNotMatch: 403,
  UnauthorizedOperation: 403,
  Unavailable: 503,
  AccessDenied: 403,
  MissingAuthenticationToken: 403,
};

export class Refusal extends Error {
  constructor(code, message, status) {
    super(message);
    this.code = code;
    this.status = status ?? statuses[code] ?? 400;
  }
}

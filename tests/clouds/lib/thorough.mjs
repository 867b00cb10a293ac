// ./dev test --thorough tries everything; otherwise one of each kind.
export const thorough = process.env.MUSTER_THOROUGH === '1';

// What goes wrong on request. A fault fits a call by the fields that it names; what it does not name fits all.
const kinds = ['error', 'cut', 'refuse', 'slow', 'big', 'truncated', 'html', 'login', 'redirect', 'empty'];
const fields = ['service', 'action', 'region', 'zone', 'type', 'market'];
const others = ['kind', 'code', 'message', 'status', 'ms', 'times', 'skip'];

export class Faults {
  #all = [];
  #others;

  // `more`: further members of this cloud's faults. They are the cloud's own business.
  constructor(more = []) {
    this.#others = [...others, ...more];
  }

  // {kind, code, message, status, ms, times, skip, service, action, region, zone, type, market}
  //   error      answers with `code`, instead of doing anything
  //   refuse     the connection ends before anything is done
  //   cut        it is done, and the connection ends without an answer
  //   truncated  it is done, and half of the answer is sent
  //   slow       it is done after `ms`
  //   big, html, login, redirect, empty   something else answers
  add(fault) {
    if (!kinds.includes(fault.kind)) throw new Error(`kind is one of ${kinds.join(', ')}`);
    const unknown = Object.keys(fault).find(key => ![...fields, ...this.#others].includes(key));
    if (unknown) throw new Error(`a fault has no ${unknown}`);
    this.#all.push({ ...fault });
  }

  clear() {
    this.#all = [];
  }

  // The fault for this call, if there is one. It counts as used.
  take(call) {
    const fault = this.#all.find(entry => fields.every(field => entry[field] === undefined || entry[field] === call[field]) && (entry.times ?? 1) > 0 && !(entry.skip > 0 && entry.skip-- > 0));
    if (fault?.times !== undefined) fault.times -= 1;
    return fault;
  }
}

// Calls of an action beyond `burst`, which fills again by `perSecond`, are throttled.
export class Throttle {
  #buckets = new Map();

  constructor(settings, now) {
    Object.assign(this, { settings, now });
  }

  allows(account, region, action) {
    const limit = this.settings.throttle[action];
    if (!limit) return true;
    const key = `${account} ${region} ${action}`;
    const bucket = this.#buckets.get(key) ?? { tokens: limit.burst, at: this.now() };
    bucket.tokens = Math.min(limit.burst, bucket.tokens + ((this.now() - bucket.at) / 1000) * limit.perSecond);
    bucket.at = this.now();
    this.#buckets.set(key, bucket);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }
}

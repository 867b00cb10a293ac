// The host's own API, asked with the cookie of a session. Addresses are relative to the page.
import { signal } from '@preact/signals';

import type { Session } from './api_types';

export const base = 'api/muster/v1/';

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** undefined: not known yet. null: nobody is logged in. */
export const session = signal<Session | null | undefined>(undefined);
/** Why the last session ended, for the form that asks for another. */
export const sessionEnd = signal('');

/** A path of segments, each escaped. */
export const pathOf = (...parts: (string | number)[]) => parts.map(part => encodeURIComponent(String(part))).join('/');

export function withQuery(path: string, query: Record<string, string | number | undefined | string[]>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined && each !== '') given.append(name, String(each));
  const text = given.toString();
  return text ? `${path}?${text}` : path;
}

async function failureOf(answer: Response): Promise<ApiError> {
  const body = (await answer.json().catch(() => ({}))) as { code?: string; message?: string };
  return new ApiError(answer.status, body.code ?? '', body.message ?? `the host answered with status ${answer.status}`);
}

async function send(method: string, path: string, body: unknown, signal_?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (method !== 'GET') headers['X-Muster-Csrf'] = session.value?.csrfToken ?? 'log-in';
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let answer: Response;
  try {
    answer = await fetch(base + path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: 'no-store',
      credentials: 'same-origin',
      signal: signal_,
    });
  } catch (error) {
    if (signal_?.aborted) throw error;
    throw new ApiError(0, 'Unreachable', 'the host does not answer');
  }
  if (answer.ok) return answer;
  const failure = await failureOf(answer);
  if (answer.status === 401 && session.value && path !== 'session') {
    sessionEnd.value = failure.message;
    session.value = null;
  }
  throw failure;
}

export async function get<T>(path: string, signal_?: AbortSignal): Promise<T> {
  return (await send('GET', path, undefined, signal_)).json() as Promise<T>;
}

/** What is no JSON. */
export async function getText(path: string, signal_?: AbortSignal): Promise<string> {
  return (await send('GET', path, undefined, signal_)).text();
}

export async function change<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await send(method, path, body);
  const text = await answer.text();
  return (text ? JSON.parse(text) : {}) as T;
}

// -------------------------------------------------------------------------------------------------
// Sessions

export async function findSession(): Promise<void> {
  try {
    const found = await get<Session>('session');
    session.value = found.csrfToken ? found : null;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) session.value = null;
    else throw error;
  }
}

export async function logIn(credentials: { token: string } | { clientId: string; accessToken: string }): Promise<void> {
  session.value = await change<Session>('POST', 'session', credentials);
  sessionEnd.value = '';
}

export async function logOut(): Promise<void> {
  try {
    await change('DELETE', 'session');
  } finally {
    sessionEnd.value = '';
    session.value = null;
  }
}

// A document of the host that a page shows, kept current by what happens there.
import { useEffect, useRef, useState } from 'preact/hooks';

import { ApiError, get } from './api';
import { listen, type News } from './live';

export interface Resource<T> {
  value?: T;
  error?: ApiError;
  loading: boolean;
  reload: () => void;
}

/** After a change the document is read at once, and then at most this often. */
const between = 1000;

/** Reads again soon, but not all the time. */
export class Throttle {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last = 0;
  constructor(
    readonly action: () => void,
    readonly pause = between,
  ) {}
  ask(): void {
    if (this.#timer !== undefined) return;
    const wait = Math.max(50, this.#last + this.pause - Date.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#last = Date.now();
      this.action();
    }, wait);
  }
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

const asError = (error: unknown) =>
  error instanceof ApiError ? error : new ApiError(0, 'Unexpected', error instanceof Error ? error.message : String(error));

/** `path` undefined: nothing is asked. `concerns`: which news make it out of date; `reset` always does. */
export function useResource<T>(path: string | undefined, concerns?: (news: News) => boolean): Resource<T> {
  const [state, setState] = useState<{ path?: string; value?: T; error?: ApiError }>({});
  const reload = useRef(() => {});
  const wanted = useRef(concerns);
  wanted.current = concerns;
  useEffect(() => {
    if (path === undefined) return undefined;
    const stop = new AbortController();
    let running = false;
    let again = false;
    const load = async () => {
      if (running) {
        again = true;
        return;
      }
      running = true;
      try {
        const value = await get<T>(path, stop.signal);
        if (!stop.signal.aborted) setState({ path, value });
      } catch (error) {
        // What was there stays: an old number with a warning helps more than none.
        if (!stop.signal.aborted)
          setState(before => ({ path, error: asError(error), value: before.path === path ? before.value : undefined }));
      } finally {
        running = false;
        if (again && !stop.signal.aborted) {
          again = false;
          throttle.ask();
        }
      }
    };
    const throttle = new Throttle(() => void load());
    reload.current = () => void load();
    void load();
    const end = listen(news => {
      if (news.type === 'reset' || wanted.current?.(news)) throttle.ask();
    });
    return () => {
      stop.abort();
      throttle.stop();
      end();
    };
  }, [path]);
  const current = state.path === path ? state : {};
  return {
    value: current.value,
    error: current.error,
    loading: path !== undefined && !current.value && !current.error,
    reload: () => reload.current(),
  };
}

// -------------------------------------------------------------------------------------------------
// Which news concern what

export const always = () => true;
export const ofPool = (pool: string) => (news: News) =>
  news.type === 'event'
    ? news.event.workerPoolId === pool
    : news.type === 'change' && (news.change.workerPools.includes(pool) || news.change.more > 0);
export const ofKinds = (...beginnings: string[]) => (news: News) =>
  news.type === 'event' && beginnings.some(beginning => news.event.kind.startsWith(beginning));
export const ofFleet = (news: News) => news.type === 'change' || ofKinds('worker-', 'hold', 'provider', 'configuration')(news);

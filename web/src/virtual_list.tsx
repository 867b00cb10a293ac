// A table of any length: only the rows that one sees are there, and only their pages are asked for.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { ApiError, get, withQuery } from './api';
import { Empty, Problem } from './components';
import { listen, type News } from './live';
import { Throttle } from './resource';

export interface ListColumn<T> {
  name: string;
  /** Width in the grid: `minmax(12rem, 2fr)`. */
  width: string;
  cell: (row: T) => ComponentChildren;
  number?: boolean;
  /** Not on a phone. */
  extra?: boolean;
}

const pageSize = 100;
const mostPages = 12; // that are kept

export interface PageOf<T> {
  rows: T[];
  total: number;
}

/** The first and the last page that rows in view are on. */
export function pagesInView(top: number, height: number, rowHeight: number, total: number): [number, number] {
  const first = Math.max(0, Math.floor(top / rowHeight) - 5);
  const last = Math.min(Math.max(0, total - 1), Math.ceil((top + height) / rowHeight) + 5);
  return [Math.floor(first / pageSize), Math.floor(last / pageSize)];
}

/** Pages beyond the limit go, those that are the farthest from what one sees first. */
export function dropFar<T>(pages: Map<number, T>, middle: number, limit = mostPages): void {
  const far = [...pages.keys()].sort((a, b) => Math.abs(b - middle) - Math.abs(a - middle));
  for (const page of far.slice(0, Math.max(0, pages.size - limit))) pages.delete(page);
}

const phone = matchMedia('(max-width: 40rem)');

function useIsPhone(): boolean {
  const [is, setIs] = useState(phone.matches);
  useEffect(() => {
    const changed = () => setIs(phone.matches);
    phone.addEventListener('change', changed);
    return () => phone.removeEventListener('change', changed);
  }, []);
  return is;
}

export function VirtualList<T>({ caption, path, query, columns: all, read, concerns, empty, rowKey, rowHeight = 40 }: {
  caption: string;
  path: string;
  query: Record<string, string | undefined | string[]>;
  columns: ListColumn<T>[];
  read: (document: never) => PageOf<T>;
  concerns: (news: News) => boolean;
  empty: ComponentChildren;
  rowKey: (row: T) => string;
  rowHeight?: number;
}) {
  const isPhone = useIsPhone();
  const columns = all.filter(column => !isPhone || !column.extra);
  const place = useRef<HTMLDivElement>(null);
  const pages = useRef(new Map<number, T[]>());
  const [total, setTotal] = useState<number>();
  const [error, setError] = useState<ApiError>();
  const [view, setView] = useState({ top: 0, height: 600 });
  const [, redraw] = useState(0);
  const asked = withQuery(path, query);

  useEffect(() => {
    pages.current = new Map();
    setTotal(undefined);
    setError(undefined);
    place.current?.scrollTo({ top: 0 });
    setView(before => ({ ...before, top: 0 }));
  }, [asked]);

  useEffect(() => {
    const stop = new AbortController();
    const load = async (page: number) => {
      try {
        const document_ = await get<never>(
          withQuery(path, { ...query, limit: pageSize, offset: page * pageSize || undefined }), stop.signal);
        if (stop.signal.aborted) return;
        const { rows, total: found } = read(document_);
        pages.current.set(page, rows);
        dropFar(pages.current, page);
        setTotal(found);
        setError(undefined);
        redraw(n => n + 1);
      } catch (failure) {
        if (!stop.signal.aborted && failure instanceof ApiError) setError(failure);
      }
    };
    const [first, last] = pagesInView(view.top, view.height, rowHeight, total ?? 1);
    for (let page = first; page <= last; ++page) if (!pages.current.has(page)) void load(page);
    const throttle = new Throttle(() => {
      for (let page = first; page <= last; ++page) void load(page);
    });
    const end = listen(news => {
      if (news.type === 'reset' || concerns(news)) throttle.ask();
    });
    return () => {
      stop.abort();
      throttle.stop();
      end();
    };
  }, [asked, total === undefined, ...pagesInView(view.top, view.height, rowHeight, total ?? 1)]);

  const scrolled = () => {
    const element = place.current;
    if (element) setView({ top: element.scrollTop, height: element.clientHeight });
  };
  const template = columns.map(column => column.width).join(' ');
  const first = Math.max(0, Math.floor(view.top / rowHeight) - 5);
  const last = Math.min(total ?? 0, Math.ceil((view.top + view.height) / rowHeight) + 5);
  const rows: { index: number; row?: T }[] = [];
  for (let index = first; index < last; ++index)
    rows.push({ index, row: pages.current.get(Math.floor(index / pageSize))?.[index % pageSize] });
  return (
    <>
      {error && <Problem title={error.status === 403 ? `You may not see ${caption}` : `Reading ${caption} failed`}>{error.message}</Problem>}
      {total === undefined && !error && <p class="quiet loading">Reading {caption}…</p>}
      {total === 0 && <Empty>{empty}</Empty>}
      <div class="list" hidden={!total} role="table" aria-label={caption} aria-rowcount={(total ?? 0) + 1}>
        <div role="rowgroup">
          <div class="list-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
            {columns.map(column => (
              <span key={column.name} role="columnheader" class={`${column.number ? 'number' : ''}`}>{column.name}</span>
            ))}
          </div>
        </div>
        <div class="list-body" ref={place} onScroll={scrolled} role="rowgroup" tabIndex={0} aria-label={`${caption}, rows`}>
          <div class="list-space" style={{ height: `${(total ?? 0) * rowHeight}px` }} role="presentation">
            {rows.map(({ index, row }) => (
              <div
                key={row ? rowKey(row) : index} class="list-row" role="row" aria-rowindex={index + 2}
                style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px`, gridTemplateColumns: template }}
              >
                {columns.map(column => (
                  <span key={column.name} role="cell" class={`${column.number ? 'number' : ''}`}>
                    {row ? column.cell(row) : ''}
                  </span>
                ))}
              </div>
            ))}
          </div>
        </div>
      </div>
    </>
  );
}

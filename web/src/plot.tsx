// Time series. Colours come from the style, so that they follow light and dark.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { duration } from './format';

export interface Line {
  name: string;
  /** Of the style: `--plot-1` to `--plot-6`, `--plot-limit`. */
  colour: string;
  values: (number | null)[];
  dashed?: boolean;
  filled?: boolean;
}

export interface PlotProps {
  title: string;
  times: number[]; // seconds
  lines: Line[];
  unit?: string;
  height?: number;
  /** Values hold until the next one. */
  steps?: boolean;
  /** Times are since a beginning, not of the day. */
  elapsed?: boolean;
}

const colourOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim() || '#888';

function axis(): uPlot.Axis {
  return {
    stroke: colourOf('--quiet'),
    grid: { stroke: colourOf('--line'), width: 1 },
    ticks: { stroke: colourOf('--line'), width: 1 },
    font: '11px system-ui, sans-serif',
  };
}

export function optionsOf({ title, lines, unit, height = 200, steps = true, elapsed = false }: PlotProps, width: number): uPlot.Options {
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  return {
    width,
    height,
    title,
    cursor: { drag: { x: true, y: false } },
    legend: { live: true },
    scales: { x: { time: !elapsed }, y: { range: (_self, _low, high) => [0, Math.max(1e-9, high) * 1.1] } },
    axes: [elapsed ? { ...axis(), values: (_self: uPlot, at: number[]) => at.map(duration) } : axis(), { ...axis(), size: 56, label: unit, labelSize: unit ? 16 : 0, labelFont: '11px system-ui, sans-serif' }],
    series: [
      elapsed ? { label: 'Time', value: (_self: uPlot, at: number | null) => (at === null ? '–' : duration(at)) } : {},
      ...lines.map(line => ({
        label: line.name,
        stroke: colourOf(line.colour),
        fill: line.filled ? `${colourOf(line.colour)}33` : undefined,
        width: 1.5,
        dash: line.dashed ? [4, 4] : undefined,
        paths: steps ? stepped : undefined,
        points: { show: line.values.length < 2 },
        spanGaps: true,
      })),
    ],
  };
}

export function Plot(props: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const shape = `${props.title} ${props.lines.map(line => line.name).join()}`;
  const content: uPlot.AlignedData = [props.times, ...props.lines.map(line => line.values)];
  const latest = useRef(content);
  latest.current = content;
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(props, Math.max(200, element.clientWidth)), latest.current, element);
    };
    draw();
    const resize = new ResizeObserver(() => plot.current?.setSize({ width: Math.max(200, element.clientWidth), height: props.height ?? 200 }));
    resize.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    return () => {
      resize.disconnect();
      scheme.removeEventListener('change', draw);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(content), [content[0].length, props.times.at(-1), ...props.lines.map(line => line.values.at(-1))]);
  const last = props.lines.map(line => `${line.name} ${line.values.at(-1) ?? '–'}`).join(', ');
  return <div class="plot" ref={place} role="img" aria-label={`${props.title}; now: ${last}`} />;
}

// Plots of capacity, demand and cost.
import type { History } from './api_types';
import { Empty } from './components';
import { Plot } from './plot';

type Points = History['points'];

const timesOf = (points: Points) => points.map(point => Date.parse(point.at) / 1000);

export function CapacityPlot({ points, title, withLimit }: { points: Points; title: string; withLimit?: boolean }) {
  if (points.length === 0) return <Empty>Nothing was measured yet. History begins with the start of the host.</Empty>;
  const line = (name: string, colour: string, value: (point: Points[number]) => number, more = {}) =>
    ({ name, colour, values: points.map(value), ...more });
  return (
    <Plot
      title={title} times={timesOf(points)} unit="capacity"
      lines={[
        line('running', '--plot-1', point => point.running, { filled: true }),
        line('busy', '--plot-2', point => point.busy),
        line('requested', '--plot-4', point => point.requested),
        line('pending', '--plot-3', point => point.pending),
        line('ending', '--plot-5', point => point.draining + point.stopping),
        ...(withLimit ? [line('limit', '--plot-limit', point => point.maxCapacity, { dashed: true })] : []),
      ]}
    />
  );
}

export function CostPlot({ points, title }: { points: Points; title: string }) {
  if (points.length === 0) return null;
  return (
    <Plot
      title={title} times={timesOf(points)} unit="per hour" height={160}
      lines={[{ name: 'cost', colour: '--plot-6', values: points.map(point => point.pricePerHour), filled: true }]}
    />
  );
}

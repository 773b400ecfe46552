// Style and script of the HTML report.  The page loads nothing: both are written into it.
#pragma once

namespace vqx::output {

inline constexpr const char* kReportStyle = R"css(
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --soft: #57606a;
  --line: #d0d7de; --plot: #0757b0; --mark: #a3410a; --bad: #a40e26; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #12161b; --soft: #9aa4af;
  --line: #39424c; --plot: #6cb0ff; --mark: #ffab70; --bad: #ff8b93; } }
body { margin: 0 auto; padding: 1rem; max-width: 70rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; } caption { text-align: left; color: var(--soft); white-space: nowrap; }
table { margin-bottom: 1rem; }
th, td { padding: .25rem .75rem; border-bottom: 1px solid var(--line); text-align: right; }
th { font-weight: 600; } th[scope=row], thead th:first-child, .text td, .text th { text-align: left; overflow-wrap: anywhere; }
td { font-variant-numeric: tabular-nums; }
code { overflow-wrap: anywhere; }
.bad { color: var(--bad); font-weight: 600; }
select { font: inherit; } #plot { width: 100%; height: 20rem; touch-action: pan-y; }
#plot:focus-visible { outline: 2px solid var(--plot); }
#plot text { fill: var(--soft); font-size: 12px; }
#plot .grid { stroke: var(--line); } #plot .series { fill: none; stroke: var(--plot); stroke-width: 1.5; }
#plot .cursor { stroke: var(--mark); } #plot circle { fill: var(--mark); }
#readout { min-height: 1.5em; margin: 0; }
)css";

// Draws the plot of the metric chosen, follows pointer and arrow keys, and shows the metric's worst
// frames.  A point stands for one frame, or for `bucket` frames by their least and greatest score.
inline constexpr const char* kReportScript = R"js(
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const plot = document.getElementById('plot'), choice = document.getElementById('metric');
const readout = document.getElementById('readout');
const left = 64, right = 8, top = 8, bottom = 24;
let series, cursor = 0, width = 0, height = 0, low = 0, high = 1;
const points = () => series.low.length;
const index = i => data.first + Math.min(i, data.frames - 1) * data.step;
const x = k => left + (width - left - right) * (points() > 1 ? k / (points() - 1) : 0.5);
const y = v => top + (height - top - bottom) * (high - v) / (high - low);
const number = v => v === null ? 'no score' : String(+v.toPrecision(7));
function add(parent, name, attributes, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  parent.appendChild(element);
  return element;
}
function describe(k) {
  const a = series.low[k], b = series.high[k], from = index(k * data.bucket);
  const to = index((k + 1) * data.bucket - 1);
  if (from === to) return 'frame ' + from + ': ' + series.key + ' ' + number(a);
  return 'frames ' + from + ' to ' + to + ': ' + series.key + ' ' + number(a) + ' to ' + number(b);
}
function move(k) {
  cursor = Math.max(0, Math.min(points() - 1, k));
  const text = describe(cursor);
  readout.textContent = text;
  plot.setAttribute('aria-valuenow', cursor);
  plot.setAttribute('aria-valuetext', text);
  plot.querySelectorAll('.cursor, circle').forEach(e => e.remove());
  add(plot, 'line', {class: 'cursor', x1: x(cursor), x2: x(cursor), y1: top, y2: height - bottom});
  for (const v of [series.low[cursor], series.high[cursor]])
    if (v !== null) add(plot, 'circle', {cx: x(cursor), cy: y(v), r: 4});
}
function scale() {
  const values = series.low.concat(series.high).filter(v => v !== null);
  low = values.reduce((a, v) => Math.min(a, v), Infinity);
  high = values.reduce((a, v) => Math.max(a, v), -Infinity);
  if (values.length === 0) { low = 0; high = 1; }
  const margin = high > low ? (high - low) * 0.05 : Math.abs(high) * 0.01 || 1;
  low -= margin; high += margin;
}
function draw() {
  width = plot.clientWidth || 900; height = plot.clientHeight || 320;
  plot.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
  plot.querySelectorAll(':scope > :not(title)').forEach(e => e.remove());
  scale();
  const step = (high - low) / 5, unit = 10 ** Math.floor(Math.log10(step));
  const tick = unit * [1, 2, 5, 10].find(m => m * unit >= step);
  for (let v = Math.ceil(low / tick) * tick; v <= high; v += tick) {
    add(plot, 'line', {class: 'grid', x1: left, x2: width - right, y1: y(v), y2: y(v)});
    add(plot, 'text', {x: left - 6, y: y(v) + 4, 'text-anchor': 'end'}, number(v));
  }
  for (const part of [0, 0.5, 1]) {
    const k = Math.round(part * (points() - 1));
    add(plot, 'text', {x: x(k), y: height - 6,
      'text-anchor': part === 0 ? 'start' : part === 1 ? 'end' : 'middle'}, index(k * data.bucket));
  }
  let path = '', pen = 'M';
  series.low.forEach((a, k) => {
    const b = series.high[k];
    if (a === null) { pen = 'M'; return; }
    path += pen + x(k).toFixed(1) + ' ' + y(a).toFixed(1); pen = 'L';
    if (b !== a || points() === 1) path += 'L' + (x(k) + (points() === 1 ? 1 : 0)).toFixed(1) + ' ' + y(b).toFixed(1);
  });
  add(plot, 'path', {class: 'series', d: path});
  move(cursor);
}
function choose() {
  series = data.series[choice.selectedIndex];
  plot.querySelector('title').textContent = series.key + ' by frame; arrow keys move the cursor';
  plot.setAttribute('aria-valuemax', points() - 1);
  document.querySelectorAll('[data-key]').forEach(e => e.hidden = e.dataset.key !== series.key);
  draw();
}
plot.addEventListener('pointermove', event => {
  const at = event.clientX - plot.getBoundingClientRect().left;
  move(Math.round((at - left) / (width - left - right) * (points() - 1)));
});
plot.addEventListener('keydown', event => {
  const steps = {ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -points(), End: points()};
  if (!(event.key in steps)) return;
  event.preventDefault();
  move(cursor + steps[event.key]);
});
choice.addEventListener('change', choose);
window.addEventListener('resize', draw);
choose();
})();
)js";

}  // namespace vqx::output

// Icons of the controls and of causes: paths of 16 by 16.

const PATHS = {
  start: "M3 3h2v10H3zM13 3v10L6 8z",
  stepBack: "M11 3v10L4 8zM12 3h1.5v10H12z",
  backward: "M12 3v10L4 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  forward: "M4 3v10l8-5z",
  stepForward: "M5 3v10l7-5zM2.5 3H4v10H2.5z",
  minus: "M3 7h10v2H3z",
  plus: "M3 7h4V3h2v4h4v2H9v4H7V9H3z",
  enlarge: "M2 2h5v1.5H4.6l3 3-1.1 1.1-3-3V7H2zM14 14H9v-1.5h2.4l-3-3 1.1-1.1 3 3V9H14z",
  fold: "M3 5h10l-5 6z",
  unfold: "M3 11h10L8 5z",
  turn: "M8 2.5a5.5 5.5 0 0 1 5.2 3.7l1.3-.5L13.6 9 10 8l1.8-1.2A4 4 0 1 0 12 8.9l1.5.3A5.5 5.5 0 1 1 8 2.5z",
  dark: "M6.2 2.2A6 6 0 1 0 13.8 9.8 5 5 0 0 1 6.2 2.2z",
  light: "M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM7.3 1h1.4v2.5H7.3zM7.3 12.5h1.4V15H7.3zM1 7.3h2.5v1.4H1zM12.5 7.3H15v1.4h-2.5zM2.6 3.6l1-1 1.7 1.7-1 1zM10.7 11.7l1-1 1.7 1.7-1 1zM12.4 2.6l1 1-1.7 1.7-1-1zM4.3 10.7l1 1-1.7 1.7-1-1z",
  placement: "M8 1a5 5 0 0 1 5 5c0 3.4-5 9-5 9S3 9.4 3 6a5 5 0 0 1 5-5zm0 3a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  pattern: "M2 9h3v5H2zM6.5 2h3v12h-3zM11 6h3v8h-3z",
  histogram: "M1 10h2.5v4H1zM4.5 4H7v10H4.5zM8 2h2.5v12H8zM11.5 8H14v6h-2.5z",
  background: "M9.5 1.5 14.5 5l-5 3.5V6h-8V4h8zM6.5 7.5V10h8v2h-8v2.5L1.5 11z",
  cpuWait: "M4 1h1.5v2H7.3V1h1.4v2h1.8V1H12v2h1v1h2v1.5h-2v1.8h2v1.4h-2v1.8h2V12h-2v1h-1v2h-1.5v-2H8.7v2H7.3v-2H5.5v2H4v-2H3v-1H1v-1.5h2V8.7H1V7.3h2V5.5H1V4h2V3h1zM4.5 4.5v7h7v-7zM6 5.2 8 7.2l2-2 .8.8-2 2 2 2-.8.8-2-2-2 2-.8-.8 2-2-2-2z",
  nothing: "M2 8.3 3.2 7.1 6.3 10.2 12.8 3.7 14 4.9 6.3 12.6z",
  pending: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3zM7.3 4.5h1.4v3.2l2.3 1.4-.7 1.2-3-1.8z",
  link: "M6.6 9.4a3 3 0 0 0 4.2 0l2.6-2.6a3 3 0 0 0-4.2-4.2L7.9 3.9l1.1 1.1 1.3-1.3a1.5 1.5 0 0 1 2.1 2.1L9.8 8.4a1.5 1.5 0 0 1-2.1 0zM9.4 6.6a3 3 0 0 0-4.2 0L2.6 9.2a3 3 0 0 0 4.2 4.2l1.3-1.3L7 11l-1.3 1.3a1.5 1.5 0 0 1-2.1-2.1l2.6-2.6a1.5 1.5 0 0 1 2.1 0z",
  auto: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zm0 1.5v9a4.5 4.5 0 0 0 0-9z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} fill-rule="evenodd" />
    </svg>
  );
}

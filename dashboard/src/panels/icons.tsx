// Icons of the controls: paths of 16 by 16.

const PATHS = {
  start: "M3 3h2v10H3zM13 3v10L6 8z",
  stepBack: "M11 3v10L4 8zM12 3h1.5v10H12z",
  backward: "M12 3v10L4 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  forward: "M4 3v10l8-5z",
  stepForward: "M5 3v10l7-5zM2.5 3H4v10H2.5z",
  minus: "M3 7h10v2H3z",
  plus: "M3 7h4V3h2v4h4v2H9v4H7V9H3z",
  dark: "M6.2 2.2A6 6 0 1 0 13.8 9.8 5 5 0 0 1 6.2 2.2z",
  light: "M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM7.3 1h1.4v2.5H7.3zM7.3 12.5h1.4V15H7.3zM1 7.3h2.5v1.4H1zM12.5 7.3H15v1.4h-2.5zM2.6 3.6l1-1 1.7 1.7-1 1zM10.7 11.7l1-1 1.7 1.7-1 1zM12.4 2.6l1 1-1.7 1.7-1-1zM4.3 10.7l1 1-1.7 1.7-1-1z",
  auto: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zm0 1.5v9a4.500 4.500 0 0 0 0-9z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} fill-rule="evenodd" />
    </svg>
  );
}

/** Numbers as the page writes them. */

/** 0.4237 → "42 %"; one more digit below a tenth. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(share > 0 && share < 0.0995 ? 1 : 0)} %`;
}

/** A value or a difference with its sign: "+0.42", "−0.10", "0.00". */
export function signed(value: number, digits = 2): string {
  const written = Math.abs(value).toFixed(digits);
  if (Number(written) === 0) return written;
  return `${value < 0 ? "−" : "+"}${written}`;
}

/** 12345 → "12 345"; the spaces are narrow and do not break. */
export function whole(value: number): string {
  const digits = String(Math.round(Math.abs(value)));
  const grouped = digits.length > 4 ? digits.replace(/\B(?=(\d{3})+$)/g, "\u202f") : digits;
  return (value < 0 ? "−" : "") + grouped;
}

/** Large numbers in short: "950", "12.3 k", "4.0 M". */
export function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${(value / 1e6).toFixed(1)} M`;
  if (size >= 1e4) return `${(value / 1e3).toFixed(1)} k`;
  return Number.isInteger(value) ? whole(value) : String(Number(value.toPrecision(3)));
}

/** Seconds as people say them: "0.4 s", "12 s", "3 min 20 s", "2 h 5 min". */
export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const rounded = Math.round(seconds);
  if (rounded < 60) return `${rounded} s`;
  const minutes = Math.floor(rounded / 60);
  if (minutes < 60) return rounded % 60 ? `${minutes} min ${rounded % 60} s` : `${minutes} min`;
  return minutes % 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${minutes / 60} h`;
}

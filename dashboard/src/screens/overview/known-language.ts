// uPlot makes a formatter of numbers for the browser's language when it is loaded. Where the system has the locale C or
// POSIX, Chromium says "en-US@posix", which no formatter takes: without this there would be no charts at all.
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en', configurable: true });
}

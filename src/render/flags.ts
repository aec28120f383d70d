// Each of them talks to somebody, keeps something, or shows something that nobody looks at.
const features = [
  'Translate',
  'OptimizationHints',
  'MediaRouter',
  'DialMediaRouteProvider',
  'InterestFeedContentSuggestions',
  'AutofillServerCommunication',
  'CertificateTransparencyComponentUpdater',
  'NetworkTimeServiceQuerying',
  'AcceptCHFrame',
  'BackForwardCache',
  'GlobalMediaControls',
  'ImprovedCookieControls',
  'LazyFrameLoading',
  'PrivacySandboxSettings4',
  'DnsOverHttps',
  'AsyncDns',
];

/** How the browser is started: one way out, nothing by itself, nothing shown. */
export function browserFlags(options: { proxyPort: number; profile: string; sandbox: boolean }): string[] {
  return [
    '--headless',
    '--remote-debugging-pipe',
    `--user-data-dir=${options.profile}`,
    // The way out: our proxy, for loopback too, and no name is ever looked up here.
    `--proxy-server=http://127.0.0.1:${options.proxyPort}`,
    '--proxy-bypass-list=<-loopback>',
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    '--disable-quic',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    // Nothing by itself.
    '--disable-background-networking',
    '--disable-breakpad',
    '--disable-client-side-phishing-detection',
    '--disable-component-extensions-with-background-pages',
    '--disable-component-update',
    '--disable-default-apps',
    '--disable-domain-reliability',
    '--disable-extensions',
    '--disable-sync',
    '--metrics-recording-only',
    '--no-default-browser-check',
    '--no-first-run',
    '--no-pings',
    '--no-service-autorun',
    '--password-store=basic',
    '--use-mock-keychain',
    `--disable-features=${features.join(',')}`,
    // Nothing that costs and is not looked at.
    '--blink-settings=imagesEnabled=false',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--disable-hang-monitor',
    '--hide-scrollbars',
    '--mute-audio',
    // Timers run as in a window that somebody looks at.
    '--disable-background-timer-throttling',
    '--disable-backgrounding-occluded-windows',
    '--disable-renderer-backgrounding',
    // What a page's scripts may hold.
    '--js-flags=--max-old-space-size=384',
    ...(options.sandbox ? [] : ['--no-sandbox', '--no-zygote']),
  ];
}

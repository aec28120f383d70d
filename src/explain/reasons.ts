/** Why a URL was given up, in words behind "It was given up:". The reference page of outcomes is made from it. */
export const deadReasons: Readonly<Record<string, string>> = {
  robots_blocked: 'robots.txt forbids it',
  not_found: 'the server said it does not exist (404)',
  gone: 'the server said it is gone for good (410)',
  legal: 'it is withheld for legal reasons (451)',
  forbidden: 'the server refused it on every try',
  challenge: 'a challenge for browsers stood before it on every try',
  access_denied: 'the page said on every try that access is denied',
  login_wall: 'the page asked for a login or for consent on every try',
  max_retries: 'every try failed',
  unsupported_type: 'it is of a type that is not read',
  redirect_loop: 'its redirects go in a circle',
  too_many_redirects: 'it redirects too often',
  bad_redirect: 'it redirects to something that is no web address',
  bad_url: 'it is no address that can be asked for',
  crash_loop: 'it ended the worker three times in a row',
  soft_404: 'the page says that the article does not exist',
  led_to_listing: 'its address leads to a front page or a list instead of the article',
  too_short: 'the page is too short to be an article',
  no_text: 'the page has no text',
  empty: 'the answer had no body',
  refused_address: 'its address is private or not allowed',
  refused_port: 'its port is not allowed',
  trap: 'it lies where a spider would never end',
  not_content: 'it was submitted to find out what it is, and pages like it have told',
  removed: 'an operator removed it',
  cancelled: 'its job was cancelled',
  run_ended: 'the run of its job ended before its turn; the next run goes on there',
  svg: 'it is a drawing, and only raster images are stored',
  unsupported_format: 'it is an image of a format that is not stored',
  not_an_image: 'its bytes are no image',
  image_truncated: 'the image is cut off',
  image_too_small: 'the image is too small to be stored',
  image_too_large: 'the image has too many bytes to be stored',
  image_too_many_pixels: 'the image has too many pixels to be stored',
  images_off: 'images of its source are not stored',
  source_deleted: 'its source was deleted',
  channel_removed: 'no channel asks for it any more',
  moved: 'its channel has another address now',
  needs_javascript: 'it needs JavaScript, and the pages of its source are never rendered',
  render_empty: 'it needs JavaScript, and a browser showed no text either',
};

/** What went wrong with the last try of a URL that is tried again. */
export const failureReasons: Readonly<Record<string, string>> = {
  dns: 'the name could not be resolved',
  connect: 'nothing answers at the address',
  tls: 'no secure connection could be made',
  timeout: 'the answer did not come in time',
  reset: 'the connection broke off',
  bad_response: 'what came is no HTTP that can be read',
  headers_too_large: 'the headers of the answer are too large',
  body_too_large: 'the body is larger than is taken',
  decompress_bomb: 'the body grows without measure when it is unpacked',
  robots_unavailable: 'robots.txt could not be read, so nothing was asked; no try is lost',
  proxy: 'the proxy did not let it through',
  no_proxy: 'every proxy rests after errors or cannot be read; it waits and keeps its tries',
  read_timeout: 'the page took too long to read',
  read_memory: 'the page took too much memory to read',
  aborted: 'it was broken off by this side, as when a lease was lost',
  rate_limited: 'the server asked for fewer requests (429); no try is lost',
  unavailable: 'the server asked to come later (503 with a time); no try is lost',
  forbidden: 'the server refused it (401, 403)',
  challenge: 'a challenge for browsers stood before it',
  access_denied: 'the page says that access is denied',
  login_wall: 'the page asks for a login or for consent',
  site_error: 'the page says that its site is out of order, suspended or for sale',
  led_to_listing: 'its address leads to a front page or a list, for now',
  render_timeout: 'its scripts did not come to an end in the browser',
  render_crashed: 'the browser ended in mid-page',
  render_too_large: 'the page outgrew its room in the browser',
  image_store_unavailable: 'the store of images cannot be reached; no try is lost',
  polling_off: 'its channel is not polled for now: disabled, its source is, or it is followed by links only',
};

/** Why a poll brought nothing, by the kind of error that a channel counts; rows call it `channel_` and the kind. */
export const channelErrors: Readonly<Record<string, string>> = {
  '429': 'the server asked for fewer requests',
  '403': 'the server refused it (401, 403)',
  '404': 'it is not there',
  '410': 'it is gone for good',
  '5xx': 'the server failed',
  network: 'the server could not be reached',
  parse: 'what came is no feed or sitemap that can be read',
  moved: 'it redirects in a circle, too often, or to what cannot be asked',
  http: 'the server answered another status that is no success',
};

const statusCode = /^http_(\d{3})$/;

/** The words behind "It was given up:"; a code without words is shown as it is. */
export function deadReasonText(code: string | null): string {
  if (code === null) return 'for a reason that was not kept';
  const status = statusCode.exec(code)?.[1];
  return deadReasons[code] ?? (status === undefined ? code : `the server answered ${status}`);
}

/** What a code of a failed try stands for; null where it says enough by itself. */
export const failureText = (code: string | null): string | null =>
  failureReasons[code ?? ''] ?? channelErrors[code?.replace(/^channel_/, '') ?? ''] ?? null;

/** WebSub: hubs are asked to tell us of news, and listened to when they do. */
export { Callback, type CallbackAnswer } from './callback.ts';
export { Subscriber, type SubscriberOptions } from './subscriber.ts';

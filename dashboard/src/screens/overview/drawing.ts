import { type Component, shallowRef } from 'vue';

/** What draws charts: `undefined` while it is on its way, null when it could not be had. */
export const drawing = shallowRef<Component | null | undefined>(undefined);

// What draws the charts is half of this screen's code: numbers are here before it is. And they are without it.
import('./series-chart.vue').then(
  ({ default: chart }) => {
    drawing.value = chart;
  },
  (error: unknown) => {
    console.warn(error);
    drawing.value = null;
  },
);

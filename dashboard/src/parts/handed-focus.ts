import { onBeforeUnmount, onMounted, type Ref } from 'vue';

let isWaiting = false;

/**
 * Hands the focus on from one heading to the next. What a screen shows while it loads has a heading of its own, and the
 * focus would be lost with it: whoever listens, or walks by keys, would be back at the top of the page.
 */
export function useHandedFocus(heading: Ref<HTMLElement | null>): void {
  onBeforeUnmount(() => {
    isWaiting = document.activeElement === heading.value;
  });
  onMounted(() => {
    if (isWaiting) heading.value?.focus({ preventScroll: true });
    isWaiting = false;
  });
}

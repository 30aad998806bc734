interface Place {
  parent: Element;
  index: number;
}

/** Where each element was when it last had the focus, from the inside out. */
const places = new WeakMap<Element, Place[]>();

function placesOf(element: Element): Place[] {
  const found: Place[] = [];
  for (let child = element; child.parentElement !== null; child = child.parentElement)
    found.push({ parent: child.parentElement, index: [...child.parentElement.children].indexOf(child) });
  return found;
}

const canHaveFocus = (element: HTMLElement) =>
  element.tabIndex >= 0 && !element.matches(":disabled") && element.checkVisibility();

function firstIn(element: Element): HTMLElement | undefined {
  return [element, ...element.querySelectorAll("*")].find(
    (one): one is HTMLElement => one instanceof HTMLElement && canHaveFocus(one),
  );
}

/** What stands where the element was: the next row of a list, else the one before it, else what is around them. */
function heirOf(element: Element): HTMLElement | null {
  const content = document.getElementById("content");
  for (const { parent, index } of places.get(element) ?? []) {
    if (!parent.isConnected) continue;
    // Of another page, nothing is a neighbour.
    if (parent === content || !(parent.closest("dialog") ?? content)?.contains(parent)) break;
    const near = [...parent.children].slice(Math.max(0, index - 1), index + 1).reverse();
    const heir = near.map(firstIn).find((one) => one !== undefined);
    if (heir !== undefined) return heir;
  }
  return content;
}

/** To an element or, where it is gone, to its neighbour. */
export function giveFocusTo(element: Element | null): void {
  const isThere = element instanceof HTMLElement && element.isConnected && canHaveFocus(element);
  const heir = isThere ? element : element === null ? null : heirOf(element);
  (heir ?? document.getElementById("content"))?.focus({ preventScroll: !isThere });
  // Below a dialog nothing takes the focus.
  const dialog = [...document.querySelectorAll("dialog:modal")].at(-1);
  if (document.activeElement === document.body && dialog !== undefined) firstIn(dialog)?.focus();
}

/** Browsers drop the focus when its element goes or is disabled. Keyboards would start at the top of the page again. */
export function keepFocus(): void {
  let last: HTMLElement | null = null;
  document.addEventListener("focusin", ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    last = target;
    places.set(target, placesOf(target));
  });
  document.addEventListener("focusout", ({ target }) =>
    queueMicrotask(() => {
      // Left by choice.
      if (target === last && last?.isConnected === true && !last.matches(":disabled")) last = null;
    }),
  );
  new MutationObserver(() => {
    if (last === null || document.activeElement !== document.body) return;
    // What is disabled is busy, and comes back.
    if (!last.isConnected || !last.matches(":disabled")) giveFocusTo(last);
  }).observe(document.body, { subtree: true, childList: true, attributeFilter: ["disabled"] });
}

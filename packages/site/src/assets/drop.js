// What pages with a dropzone share.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function formatSize(bytes) {
  const units = ["bytes", "KB", "MB", "GB"];
  const power = bytes < 1 ? 0 : Math.min(3, Math.floor(Math.log(bytes) / Math.log(1024)));
  const amount = bytes / 1024 ** power;
  return `${Number.isInteger(amount) || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[power]}`;
}

export function takeDrops(zone, take) {
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.dataset.over = "";
  });
  zone.addEventListener("dragleave", () => delete zone.dataset.over);
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    delete zone.dataset.over;
    take(event.dataTransfer.files);
  });
}
